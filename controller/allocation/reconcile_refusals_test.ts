/** What a reconcile does when the server says no, or not now. */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { limited, reconcilerStage } from "../../tests/fixtures/market/reconciler_stage.ts";

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("createReconciler() leaves a refused creation to the loop's back-off", async () => {
  const { reconcile, state, clock, status } = reconcilerStage();
  for (const code of [404, 409, 403]) {
    state.storeRefusals.create = new ApiError(code, "", "not now");
    await assert.rejects(reconcile(), { status: code });
    await clock.runUntil(clock.monotonic() + 2000);
  }
  delete state.storeRefusals.create;
  assert.deepEqual(await reconcile(), { requeueAfterMs: 30_000 });
  assert.equal(status()?.bounds?.revision, 1);
});

test("createReconciler() waits longer with each conflict, and anew after a success", async () => {
  const { reconcile, state, want } = reconcilerStage();
  await reconcile();
  want("300m");
  state.refusal = new ApiError(409, "Conflict", "the object has been modified");
  const waits: unknown[] = [];
  for (let time = 0; time < 10; time++) waits.push((await reconcile()).requeueAfterMs);
  assert.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
  state.refusal = undefined;
  assert.deepEqual(await reconcile(), { requeueAfterMs: 10_000 });
});

test("createReconciler() waits longer when a status can't be written for its age", async () => {
  const { reconcile, state } = reconcilerStage();
  state.storeRefusals.writeStatus = new ApiError(409, "Conflict", "the object has been modified");
  const waits: unknown[] = [];
  for (let time = 0; time < 3; time++) waits.push((await reconcile()).requeueAfterMs);
  assert.deepEqual(waits, [100, 200, 400]);
});

test("createReconciler() lets a pod that is put off time and again wait by itself", async () => {
  const { reconcile, state, want, clock, patches, answers, warnings, status, events } =
    reconcilerStage();
  await reconcile();
  want("300m");
  state.refusal = new ApiError(500, "InternalError", "etcdserver: leader changed");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  assert.deepEqual(answers, [{ outcome: "busy", reason: "Throttled", restoring: false }]);
  assert.partialDeepStrictEqual(warnings, [{ pod: "shop/web", status: 500, waitMs: 1000 }]);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  await clock.runUntil(1000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
  assert.equal(status()?.phase, undefined);
  await clock.runUntil(3000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 4000 });
  assert.equal(patches.length, 3);
  assert.equal(warnings.length, 1);
  assert.equal(status()?.phase, "Failed");
  assert.equal(status()?.message, "etcdserver: leader changed");
  assert.equal(events.filter(({ reason }) => reason === "CPULimitFailed").length, 1);
  state.refusal = undefined;
  await clock.runUntil(7000);
  await reconcile();
  assert.equal(patches.length, 4);
  assert.equal(answers.at(-1)?.outcome, "accepted");
});

test("createReconciler() counts resizes of a pod that is gone and those of old state", async () => {
  const { reconcile, state, want, answers } = reconcilerStage();
  await reconcile();
  want("300m");
  for (const code of [409, 404]) {
    state.refusal = new ApiError(code, "", "no");
    await reconcile();
  }
  assert.deepEqual(answers.map(({ outcome }) => outcome), ["conflict", "gone"]);
});

test("createReconciler() waits longer each time that the kubelet calls a resize infeasible", async () => {
  const { reconcile, setPod, want, clock, patches, status } = reconcilerStage();
  await reconcile();
  const message = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
  const refusedByKubelet = (limitCPU: number): void =>
    setPod((pod) => ({
      ...pod,
      containers: pod.containers.map((app) => ({
        ...app,
        limits: { ...app.limits, cpu: limitCPU },
      })),
      resizeConditions: [{ type: "PodResizePending", reason: "Infeasible", message }],
    }));
  const waits: number[] = [];
  for (const limit of [300, 310, 320, 330]) {
    want(`${limit}m`);
    const sent = patches.length;
    for (let waited = 0; patches.length === sent; waited += 500) {
      await reconcile();
      if (patches.length > sent) waits.push(waited);
      else await clock.runUntil(clock.monotonic() + 500);
    }
    refusedByKubelet(limit);
    await reconcile();
    assert.deepEqual([status()?.phase, status()?.reason, status()?.message], [
      "Failed",
      "StaticCPUManager",
      message,
    ]);
  }
  assert.deepEqual(waits, [0, 1000, 2000, 4000]);
  // What the kubelet has taken begins anew.
  setPod((pod) => ({ ...limited(pod, 330), resizeConditions: [] }));
  await reconcile();
  want("340m");
  await clock.runUntil(clock.monotonic() + 8000);
  await reconcile();
  refusedByKubelet(340);
  await reconcile();
  want("350m");
  await clock.runUntil(clock.monotonic() + 1000);
  await reconcile();
  assert.equal(patches.length, 6);
});
