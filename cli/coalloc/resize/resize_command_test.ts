import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { sampleNode } from "../../../tests/contract/support/sample_objects.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { type PollEnd, type PollParts, pollPod } from "../poll_pod.ts";

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
  assert.equal(await scene.run("resize", "gone", "--cpu-limit", "300m"), 1);
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

webTest("resizeCommand() ends once the market goes on from the pod's new limit", async (scene) => {
  const { metadata: { uid } } = addMarketPod(scene, "late", { limit: 450, own: 200 });
  const { Pod: pods, PodAllocation: allocations } = scene.api.store.tables;
  // The controller has put the new limit on record, and the market has set its own again.
  scene.clock.at(100, () => {
    allocations.modify(`shop/${uid}`, (one) => ({
      ...one,
      status: { ...one.status, originalLimits: [{ name: "app", cpu: "300m" }] },
    }));
    pods.modify("shop/late", (one) => ({
      ...one,
      containers: one.containers.map((app) => ({
        ...app,
        limits: { ...app.limits, cpu: 450 },
        limitManagers: ["mbcas"],
      })),
    }));
  });
  assert.equal(await scene.run("resize", "late", "--cpu-limit", "300m"), 0, scene.out);
  assert.match(scene.out, /app at 450m\n$/);
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

const WAIT: PollEnd = { reason: "ResizeInProgress", message: "not yet" };

interface Case {
  readonly scene: CoallocScene;
  readonly uid: string;
  poll(check: PollParts["check"], change?: Partial<PollParts>): Promise<PollEnd>;
}

function pollTest(name: string, fn: (known: Case) => Promise<void>): void {
  sceneTest(name, (scene) => {
    const { metadata } = addMarketPod(scene, "web", { limit: 450, own: 200 });
    const { clock, cluster: { reader }, world: { signal } } = scene;
    const parts = { reader, clock, signal, timeoutMs: 10_000 };
    const poll: Case["poll"] = (check, change = {}) =>
      settleVirtually(clock, pollPod(metadata, { ...parts, check, ...change }));
    return fn({ scene, uid: metadata.uid, poll });
  });
}

pollTest("pollPod() looks again until the look is done, or time is up", async ({ poll, scene }) => {
  const looks: PollEnd[] = [WAIT, WAIT, { reason: "Applied", message: "there" }];
  const end = await poll(() => Promise.resolve(looks.shift() ?? WAIT));
  assert.deepEqual(end, { reason: "Applied", message: "there" });
  assert(scene.clock.monotonic() >= 500 && scene.clock.monotonic() < 600);
  assert.deepEqual(await poll(() => Promise.resolve(WAIT), { timeoutMs: 2000 }), {
    reason: "ResizeInProgress",
    message: "not yet (after 2 s)",
  });
});

pollTest("pollPod() tries again after conflicts, server errors and an outage", async ({ poll }) => {
  const errors = [409, 429, 503, 0];
  const end = await poll(() => {
    const status = errors.shift();
    return status === undefined
      ? Promise.resolve({ reason: "Applied", message: "" })
      : Promise.reject(new ApiError(status, "", "busy", { retryAfterMs: 2000 }));
  });
  assert.equal(end.reason, "Applied");
});

pollTest("pollPod() ends with a refusal, and with faults of the program", async ({ poll }) => {
  const refusal = new ApiError(403, "Forbidden", "exceeded quota");
  assert.deepEqual(await poll(() => Promise.reject(refusal)), {
    reason: "Refused",
    message: "exceeded quota",
    refusal,
  });
  await assert.rejects(poll(() => Promise.reject(new Error("a fault"))), /a fault/);
});

pollTest("pollPod() knows a pod that is gone or born again", async ({ poll, scene, uid }) => {
  const reborn = new ApiError(422, "Invalid", "metadata.uid: field is immutable");
  assert.equal((await poll(() => Promise.reject(reborn))).reason, "PodGone");
  scene.api.store.tables.Pod.remove("shop/web", uid);
  assert.equal((await poll(() => Promise.resolve(WAIT))).reason, "PodGone");
  const later = addMarketPod(scene, "web", { limit: 450, own: 200 });
  assert.notEqual(later.metadata.uid, uid);
  assert.equal((await poll(() => Promise.resolve(WAIT))).reason, "PodGone");
});
