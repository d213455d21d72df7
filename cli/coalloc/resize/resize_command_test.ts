import assert from "node:assert/strict";
import { sampleNode } from "../../../tests/contract/support/sample_objects.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";

function sceneTest(name: string, fn: (scene: CoallocScene) => Promise<void>): void {
  Deno.test({
    name,
    permissions: "none",
    async fn() {
      const scene = coallocScene();
      addMarketPod(scene, "web", { limit: 450, own: 200 });
      await fn(scene);
      await scene.close();
    },
  });
}

function container(scene: CoallocScene) {
  const [found] = scene.api.store.tables.Pod.get("shop/web")?.containers ?? [];
  assert(found !== undefined);
  return found;
}

sceneTest("resizeCommand() sets the limit under its own name and waits", async (scene) => {
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "1"), 0);
  assert.match(scene.out, /^shop\/web {2}app 450m → 1000m: .*\n$/);
  assert.equal(container(scene).applied.limits.cpu, 1000);
  assert.deepEqual(container(scene).limitManagers, ["kubectl-coalloc"]);
});

sceneTest("resizeCommand() goes through the checks and names what refuses", async (scene) => {
  scene.api.store.tables.LimitRange.seed({
    metadata: { name: "small", namespace: "shop", uid: "", resourceVersion: "" },
    items: [{ type: "Container", max: 500 }],
  });
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "app=600m"), 1);
  assert.match(scene.err, /^Cannot .* web: .*600m.* \(LimitRange\)\n$/);
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "50m"), 1);
  assert.match(scene.out, /app 450m → 50m: Refused: .*cpu limit/);
  assert.equal(container(scene).limits.cpu, 450);
});

sceneTest("resizeCommand() moves the request of a Guaranteed pod with its limit", async (scene) => {
  const { Pod: pods } = scene.api.store.tables;
  addMarketPod(scene, "db", { limit: 450, own: 200, guaranteed: true });
  assert.equal(await scene.run("resize", "db", "--cpu-limit", "1"), 0, scene.err);
  assert.match(scene.out, /^shop\/db {2}app 450m → 1000m \(request and limit\): .*\n$/);
  const { qosClass, containers: [app] } = pods.get("shop/db") ?? { containers: [] };
  assert.deepEqual(
    [qosClass, app?.requests.cpu, app?.limits.cpu, app?.applied.requests.cpu, app?.limitManagers],
    ["Guaranteed", 1000, 1000, 1000, ["kubectl-coalloc"]],
  );
  scene.out = "";
  assert.equal(await scene.run("resize", "db", "--cpu-limit", "100m", "-o", "json"), 0);
  assert.deepEqual(JSON.parse(scene.out).steps, [
    { container: "app", from: 1000, to: 100, withRequest: true },
  ]);
});

sceneTest("resizeCommand() reports that a node has not that much for a request", async (scene) => {
  scene.api.store.tables.Node.create(sampleNode("node-1"));
  addMarketPod(scene, "db", { limit: 450, own: 200, guaranteed: true });
  assert.equal(await scene.run("resize", "db", "--cpu-limit", "5"), 1);
  assert.match(scene.out, /Refused: .*allocatable resources: cpu/);
  assert.equal(scene.api.store.tables.Pod.get("shop/db")?.containers[0]?.limits.cpu, 450);
});

sceneTest("resizeCommand() changes nothing on a dry run", async (scene) => {
  assert.equal(
    await scene.run("resize", "web", "--cpu-limit", "300m", "--dry-run", "-o", "json"),
    0,
  );
  assert.deepEqual(JSON.parse(scene.out), {
    namespace: "shop",
    pod: "web",
    outcome: "DryRun",
    message: "nothing was changed",
    steps: [{ container: "app", from: 450, to: 300 }],
  });
  assert.equal(container(scene).limits.cpu, 450);
});

sceneTest("resizeCommand() reports the kubelet's condition when time is up", async (scene) => {
  scene.kubelet.refuseResizes("shop/web", {
    type: "PodResizePending",
    reason: "Infeasible",
    message: "static CPU manager",
  });
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "300m"), 1);
  assert.match(scene.out, /ResizeInfeasible: static CPU manager\n$/);
});

sceneTest("resizeCommand() asks which container, and for a quantity", async (scene) => {
  const { Pod: pods } = scene.api.store.tables;
  pods.seed({
    ...pods.modify("shop/web", (pod) => pod),
    metadata: {
      ...pods.modify("shop/web", (pod) => pod).metadata,
      name: "two",
      uid: "two",
    },
    containers: [container(scene), { ...container(scene), name: "proxy" }],
  });
  assert.equal(await scene.run("resize", "two", "--cpu-limit", "300m"), 1);
  assert.match(scene.err, /has several containers \(app, proxy\); name one: --cpu-limit app=300m/);
  assert.equal(await scene.run("resize", "two", "--cpu-limit", "db=300m"), 1);
  assert.match(scene.err, /has no container "db", only app, proxy/);
  assert.equal(await scene.run("resize", "gone", "--cpu-limit", "300m"), 1);
  for (const wrong of ["much", "0", "-1", "=5m"]) {
    assert.equal(await scene.run("resize", "two", `--cpu-limit=${wrong}`), 2, wrong);
  }
  assert.equal(await scene.run("resize", "two"), 2);
  assert.equal(await scene.run("resize", "two", "--cpu-limit", "1", "--cpu-limit", "2"), 2);
  assert.match(scene.err, /required option '--cpu-limit <\[container=\]quantity>' not specified/);
});
