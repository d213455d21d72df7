import assert from "node:assert/strict";
import { RESTORE_MANAGER } from "../../shared/resize/original_limits.ts";
import { MAX_CPU, SKIP_GUARANTEED } from "../../shared/api/market_keys.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  annotate,
  CONFLICT,
  limited,
  optedOut,
  pass,
  type ReconcilerStage,
  reconcilerStage,
  recorded,
  waits,
} from "../../tests/fixtures/market/reconciler_stage.ts";
import { ApiError } from "../../shared/api/api_error.ts";

const NODE = sampleNode("node-1");
const heldOf = ({ status }: ReconcilerStage): unknown => status()?.bounds?.containers[0]?.held;

pure("createReconciler() creates allocations at the rate that is set", async () => {
  const stage = reconcilerStage();
  const { pods, look, status, clock, woken } = stage;
  const web = pods.get("shop/web") ?? assert.fail("no pod");
  pods.set("shop/db", { ...web, metadata: { ...web.metadata, name: "db", uid: "u2" } });
  assert.deepEqual(await waits(stage, 1), [30_000]);
  assert.equal(status()?.bounds?.revision, 1);
  assert.deepEqual(await look("shop/db"), { requeueAfterMs: 30_000 });
  await clock.runUntil(999);
  assert.deepEqual(woken, []);
  await clock.runUntil(1000);
  assert.deepEqual(woken, ["shop/db"]);
});

pure("createReconciler() allocates nothing without a namespace or resizes", async () => {
  const { namespaces, nodes, reconcile, status } = reconcilerStage();
  const shop = namespaces.get("shop") ?? assert.fail("no namespace");
  namespaces.clear();
  assert.deepEqual([await reconcile(), status()], [{}, undefined]);
  namespaces.set("shop", shop);
  nodes.set("node-1", { ...NODE, kubeletVersion: "v1.32.4" });
  assert.deepEqual([await reconcile(), status()], [{}, undefined]);
  nodes.set("node-1", { ...NODE, kubeletVersion: "v1.33.0" });
  await reconcile();
  assert.equal(status()?.bounds?.revision, 1);
});

pure("createReconciler() looks again when a rule ends, though it has just written", async () => {
  const stage = reconcilerStage();
  stage.setPod((pod) => ({
    ...{ ...pod, ready: true },
    containers: pod.containers.map((app) => ({ ...app, restartedAtMs: -280_000 })),
  }));
  assert.deepEqual([await waits(stage, 1), heldOf(stage)], [[20_000], "lower"]);
  await pass(stage, 20_000);
  assert.deepEqual([await waits(stage, 1), heldOf(stage)], [[30_000], undefined]);
});

pure("createReconciler() patches once while the cache is old", async () => {
  const stage = await recorded();
  const { reconcile, want, patches, setPod, status } = stage;
  want("300m");
  assert.deepEqual(await waits(stage, 2), [10_000, 10_000]);
  assert.equal(patches.length, 1);
  setPod((pod) => limited(pod, 300));
  await reconcile();
  assert.deepEqual([patches.length, status()?.appliedCPULimit], [1, "300m"]);
});

pure("createReconciler() moves a limit on that it brought to the original one itself", async () => {
  const stage = reconcilerStage();
  const { reconcile, want, patches, setPod, status } = stage;
  setPod((pod) => ({ ...pod, ready: true }));
  await reconcile();
  for (const limit of [300, 200]) {
    want(`${limit}m`);
    await reconcile();
    await pass(stage, 1000);
    // The agent goes on before the copy shows the patch.
    if (limit === 200) want("350m");
    const limitManagers = [limit === 200 ? RESTORE_MANAGER : "mbcas"];
    setPod((pod) => {
      const { containers, ...rest } = limited(pod, limit);
      return { ...rest, containers: containers.map((app) => ({ ...app, limitManagers })) };
    });
    await reconcile();
  }
  const sent = patches.map(({ spec }) => spec.containers?.[0]?.resources?.limits?.cpu);
  assert.deepEqual([sent, status()?.reason], [["300m", "200m", "350m"], "Applied"]);
});

pure("createReconciler() reports an ignored annotation once", async () => {
  const outside = reconcilerStage();
  const guaranteed = { qosClass: "Guaranteed" } as const;
  annotate(outside, { [SKIP_GUARANTEED]: "true" }, guaranteed);
  await outside.reconcile();
  assert.deepEqual(outside.events, []);
  annotate(outside, { [SKIP_GUARANTEED]: "no" }, guaranteed);
  assert.deepEqual(await waits(outside, 2), [undefined, undefined]);
  assert.equal(outside.status(), undefined);
  const inside = reconcilerStage();
  annotate(inside, { [MAX_CPU]: "64" });
  await inside.reconcile();
  await pass(inside, 600_000);
  await inside.reconcile();
  for (const [{ events }, key] of [[outside, SKIP_GUARANTEED], [inside, MAX_CPU]] as const) {
    const ignored = events.filter(({ reason }) => reason === "AnnotationIgnored");
    const found = ignored.map(({ type, message }) => [type, message.split(":")[0]]);
    assert.deepEqual(found, [["Warning", key]]);
  }
});

pure("createReconciler() writes a pending reason only when it lasts over 2 s", async () => {
  const stage = await recorded();
  const { reconcile, status } = stage;
  assert.deepEqual([await waits(stage, 1), status()?.phase], [[2000], undefined]);
  await pass(stage, 2000);
  await reconcile();
  assert.deepEqual([status()?.phase, status()?.reason], ["Pending", "Waiting"]);
});

pure("createReconciler() writes that it waits when its turn has come behind others", async () => {
  const stage = await recorded();
  const { reconcile, status, nodeWrites, woken } = stage;
  await reconcile();
  await pass(stage, 2000);
  for (let one = 0; one < 10_000; one++) nodeWrites.agentAway.take({ podKey: `zone/p${one}` });
  assert.deepEqual([await waits(stage, 1), status()?.phase], [[30_000], undefined]);
  // Namespaces take turns.
  await pass(stage, 100);
  assert.ok(woken.includes("shop/web"));
  await reconcile();
  assert.equal(status()?.reason, "Waiting");
});

pure("createReconciler() holds pods of a drained node while a zone's nodes are away", async () => {
  const stage = await recorded();
  const { reconcile, nodes, nodeWrites, state } = stage;
  for (let one = 0; one < 10_000; one++) nodeWrites.failed.take({ podKey: `zone/p${one}` });
  const node = { ...NODE, ready: false };
  nodes.set("node-1", node);
  await reconcile();
  assert.notEqual(heldOf(stage), "both");
  nodes.set("node-1", { ...NODE, draining: true });
  await reconcile();
  assert.equal(heldOf(stage), "both");
  const other = await recorded();
  for (let one = 0; one < 10_000; one++) other.nodeWrites.failed.take({ podKey: `zone/p${one}` });
  other.nodes.set("node-1", node);
  other.state.storeRefusals.writeStatus = CONFLICT;
  for (let look = 0; look < 3; look++) {
    await other.reconcile();
    await pass(other, 100);
    assert.notEqual(heldOf(other), "both");
  }
  delete other.state.storeRefusals.writeStatus;
  await other.reconcile();
  await pass(other, 100);
  await other.reconcile();
  assert.equal(heldOf(other), "both");
  assert.equal(state.removed, 0);
});

pure("createReconciler() removes the allocation of a finished pod without a restore", async () => {
  for (const phase of ["Succeeded", "Failed"] as const) {
    const stage = await recorded();
    const { setPod, want, patches, state, status } = stage;
    want("300m");
    setPod((pod) => ({ ...optedOut(pod), phase }));
    assert.deepEqual(await waits(stage, 2), [undefined, undefined]);
    assert.deepEqual([state.removed, status(), patches.length], [1, undefined, 0]);
  }
});

const DENIED = new ApiError(403, "Forbidden", "exceeded quota");
const NOT_FOUND = new ApiError(404, "NotFound", "not found");

pure("createReconciler() keeps the server's message during the back-off", async () => {
  const stage = await recorded();
  const { want, state, status, clock, patches } = stage;
  want("300m");
  state.refusal = DENIED;
  assert.deepEqual(await waits(stage, 1), [1000]);
  await clock.runUntil(999);
  assert.deepEqual([await waits(stage, 1), patches.length], [[1], 1]);
  assert.partialDeepStrictEqual(status(), {
    ...{ reason: "QuotaExceeded", phase: "Failed", message: "exceeded quota" },
    lastAttemptTime: "1970-01-01T00:00:00.000Z",
  });
  await clock.runUntil(1000);
  assert.deepEqual(await waits(stage, 1), [2000]);
});

pure("createReconciler() calls a refused restore RestoreBlocked, and retries it", async () => {
  const stage = await recorded();
  const { reconcile, setPod, state, status } = stage;
  setPod(optedOut);
  state.refusal = DENIED;
  assert.deepEqual(await waits(stage, 1), [1000]);
  assert.deepEqual([status()?.reason, status()?.phase], ["RestoreBlocked", "Failed"]);
  state.refusal = undefined;
  await pass(stage, 1000);
  await reconcile();
  setPod((pod) => limited(pod, 200));
  assert.equal(state.removed, 0);
  await reconcile();
  assert.equal(state.removed, 1);
});

pure("createReconciler() forgets a refusal when a pod of the same name is born", async () => {
  const stage = await recorded();
  const { want, state, setPod } = stage;
  const born = (uid: string) => setPod((pod) => ({ ...pod, metadata: { ...pod.metadata, uid } }));
  want("300m");
  state.refusal = new ApiError(422, "Invalid", "metadata.uid: field is immutable");
  assert.deepEqual(await waits(stage, 1), [10_000]);
  state.refusal = DENIED;
  assert.deepEqual(await waits(stage, 2), [1000, 1000]);
  await pass(stage, 1000);
  assert.deepEqual(await waits(stage, 1), [2000]);
  for (const uid of ["u2", "u1"]) {
    born(uid);
    assert.deepEqual(await waits(stage, 1), [30_000]);
  }
  want("300m");
  assert.deepEqual(await waits(stage, 1), [1000]);
});

pure("createReconciler() leaves a refused creation to the loop's back-off", async () => {
  const stage = reconcilerStage();
  const { reconcile, state, status } = stage;
  for (const code of [404, 409, 403]) {
    state.storeRefusals.create = new ApiError(code, "", "not now");
    await assert.rejects(reconcile(), { status: code });
    await pass(stage, 2000);
  }
  delete state.storeRefusals.create;
  assert.deepEqual([await waits(stage, 1), status()?.bounds?.revision], [[30_000], 1]);
});

pure("createReconciler() waits longer with each conflict, and anew after a success", async () => {
  const stage = await recorded();
  stage.want("300m");
  stage.state.refusal = CONFLICT;
  const doubled = [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000];
  assert.deepEqual(await waits(stage, 10), doubled);
  assert.equal(stage.answers[0]?.outcome, "conflict");
  stage.state.refusal = undefined;
  assert.deepEqual(await waits(stage, 1), [10_000]);
  const other = reconcilerStage();
  other.state.storeRefusals.writeStatus = CONFLICT;
  assert.deepEqual(await waits(other, 3), [100, 200, 400]);
});

pure("createReconciler() lets a pod that is put off time and again wait by itself", async () => {
  const stage = await recorded();
  const { reconcile, state, want, clock, patches, answers, warnings, status, events } = stage;
  want("300m");
  state.refusal = new ApiError(500, "InternalError", "etcdserver: leader changed");
  assert.deepEqual(await waits(stage, 2), [1000, 1000]);
  assert.deepEqual(answers, [{ outcome: "busy", reason: "Throttled", restoring: false }]);
  assert.partialDeepStrictEqual(warnings, [{ pod: "shop/web", status: 500, waitMs: 1000 }]);
  await clock.runUntil(1000);
  assert.deepEqual([await waits(stage, 1), status()?.phase], [[2000], undefined]);
  await clock.runUntil(3000);
  assert.deepEqual(await waits(stage, 1), [4000]);
  assert.deepEqual([patches.length, warnings.length], [3, 1]);
  const failed = { phase: "Failed", message: "etcdserver: leader changed" };
  assert.partialDeepStrictEqual(status(), failed);
  assert.equal(events.filter(({ reason }) => reason === "CPULimitFailed").length, 1);
  state.refusal = undefined;
  await clock.runUntil(7000);
  await reconcile();
  assert.deepEqual([patches.length, answers.at(-1)?.outcome], [4, "accepted"]);
});

pure("createReconciler() reconciles again by itself what the server calls gone", async () => {
  const stage = await recorded();
  const { state, want, pods, answers } = stage;
  want("300m");
  state.refusal = NOT_FOUND;
  assert.deepEqual(await waits(stage, 1), [10_000]);
  assert.deepEqual(answers.map(({ outcome }) => outcome), ["gone"]);
  state.refusal = undefined;
  state.storeRefusals.writeStatus = NOT_FOUND;
  annotate(stage, { [MAX_CPU]: "250m" });
  assert.deepEqual(await waits(stage, 1), [10_000]);
  pods.clear();
  assert.deepEqual(await waits(stage, 1), [undefined]);
});

pure("createReconciler() waits longer after each infeasible resize", async () => {
  const stage = await recorded();
  const { reconcile, setPod, want, patches, status } = stage;
  const message = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
  const condition = { type: "PodResizePending", reason: "Infeasible", message } as const;
  const refusedByKubelet = (cpu: number): void =>
    setPod((pod) => ({
      ...{ ...pod, resizeConditions: [condition] },
      containers: pod.containers.map((app) => ({ ...app, limits: { ...app.limits, cpu } })),
    }));
  const waited: number[] = [];
  for (const limit of [300, 310, 320, 330]) {
    want(`${limit}m`);
    const sent = patches.length;
    let ms = -500;
    while (patches.length === sent) {
      if (ms >= 0) await pass(stage, 500);
      ms += 500;
      await reconcile();
    }
    waited.push(ms);
    refusedByKubelet(limit);
    await reconcile();
    const failed = { phase: "Failed", reason: "StaticCPUManager", message };
    assert.partialDeepStrictEqual(status(), failed);
  }
  assert.deepEqual(waited, [0, 1000, 2000, 4000]);
  // The wait begins anew once the kubelet has applied a resize.
  setPod((pod) => ({ ...limited(pod, 330), resizeConditions: [] }));
  await reconcile();
  want("340m");
  await pass(stage, 8000);
  await reconcile();
  refusedByKubelet(340);
  await reconcile();
  want("350m");
  await pass(stage, 1000);
  await reconcile();
  assert.equal(patches.length, 6);
});
