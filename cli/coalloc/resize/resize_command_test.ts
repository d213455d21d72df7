import assert from "node:assert/strict";
import { sampleNode } from "../../../tests/contract/support/sample_objects.ts";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";

function webTest(name: string, fn: (scene: CoallocScene) => Promise<void>): void {
  sceneTest(name, (scene) => {
    addMarketPod(scene, "web", { limit: 450, own: 200 });
    return fn(scene);
  });
}

function container(scene: CoallocScene) {
  const [found] = scene.api.store.tables.Pod.get("shop/web")?.containers ?? [];
  assert(found !== undefined);
  return found;
}

webTest("resizeCommand() sets the limit under its own name and waits", async (scene) => {
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "1"), 0);
  assert.equal(container(scene).applied.limits.cpu, 1000);
  assert.deepEqual(container(scene).limitManagers, ["kubectl-coalloc"]);
});

webTest("resizeCommand() goes through the checks and names what refuses", async (scene) => {
  scene.api.store.tables.LimitRange.seed({
    metadata: { name: "small", namespace: "shop", uid: "", resourceVersion: "" },
    items: [{ type: "Container", max: 500 }],
  });
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "app=600m"), 1);
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "50m"), 1);
  assert.match(scene.out, /app 450m → 50m: Refused: .*cpu limit/);
  assert.equal(container(scene).limits.cpu, 450);
});

webTest("resizeCommand() moves the request of a Guaranteed pod with its limit", async (scene) => {
  const { Pod: pods } = scene.api.store.tables;
  addMarketPod(scene, "db", { limit: 450, own: 200, guaranteed: true });
  assert.equal(await scene.run("resize", "db", "--cpu-limit", "1"), 0, scene.err);
  const { qosClass, containers: [app] } = pods.get("shop/db") ?? { containers: [] };
  assert.deepEqual(
    [qosClass, app?.requests.cpu, app?.limits.cpu, app?.applied.requests.cpu, app?.limitManagers],
    ["Guaranteed", 1000, 1000, 1000, ["kubectl-coalloc"]],
  );
  const [, json] = await scene.ran("resize db --cpu-limit 100m -o json");
  const [step, ...others] = JSON.parse(json).steps;
  assert.deepEqual([step, others], [
    { container: "app", from: 1000, to: 100, withRequest: true },
    [],
  ]);
});

webTest("resizeCommand() reports that a node has not that much for a request", async (scene) => {
  scene.api.store.tables.Node.create(sampleNode("node-1"));
  addMarketPod(scene, "db", { limit: 450, own: 200, guaranteed: true });
  assert.equal(await scene.run("resize", "db", "--cpu-limit", "5"), 1);
  assert.match(scene.out, /Refused: .*allocatable resources: cpu/);
  assert.equal(scene.api.store.tables.Pod.get("shop/db")?.containers[0]?.limits.cpu, 450);
});

webTest("resizeCommand() changes nothing on a dry run", async (scene) => {
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

webTest("resizeCommand() reports the kubelet's condition when time is up", async (scene) => {
  scene.kubelet.refuseResizes("shop/web", {
    type: "PodResizePending",
    reason: "Infeasible",
    message: "static CPU manager",
  });
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "300m"), 1);
  assert.match(scene.out, /ResizeInfeasible: static CPU manager\n$/);
});

webTest("resizeCommand() ends with 1 for pods, and with 2 for quantities", async (scene) => {
  assert.equal(await scene.run("resize", "gone", "--cpu-limit", "300m"), 1);
  for (const wrong of ["much", "0", "-1", "=5m"]) {
    assert.equal(await scene.run("resize", "web", `--cpu-limit=${wrong}`), 2, wrong);
  }
  assert.equal(await scene.run("resize", "web"), 2);
  for (const second of ["2", "app=2"]) {
    assert.equal(await scene.run("resize", "web", "--cpu-limit", "1", "--cpu-limit", second), 2);
  }
});
