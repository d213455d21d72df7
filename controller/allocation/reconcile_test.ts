import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { RESTORE_MANAGER } from "../../shared/resize/original_limits.ts";
import { MANAGED, MAX_CPU, SKIP_GUARANTEED } from "../../shared/api/market_keys.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { limited, reconcilerStage } from "../../tests/fixtures/market/reconciler_stage.ts";

pure("createReconciler() creates allocations at the rate that is set", async () => {
  const { pods, look, reconcile, status, clock, woken } = reconcilerStage();
  const web = pods.get("shop/web");
  assert.ok(web);
  pods.set("shop/db", { ...web, metadata: { ...web.metadata, name: "db", uid: "u2" } });
  assert.deepEqual(await reconcile(), { requeueAfterMs: 30_000 });
  assert.equal(status()?.bounds?.revision, 1);
  assert.deepEqual(await look("shop/db"), { requeueAfterMs: 30_000 });
  await clock.runUntil(999);
  assert.deepEqual(woken, []);
  await clock.runUntil(1000);
  assert.deepEqual(woken, ["shop/db"]);
});

pure("createReconciler() makes no allocation before it knows the pod's namespace", async () => {
  const { namespaces, reconcile, status } = reconcilerStage();
  const shop = namespaces.get("shop");
  assert.ok(shop);
  namespaces.clear();
  assert.deepEqual(await reconcile(), {});
  assert.equal(status(), undefined);
  namespaces.set("shop", shop);
  await reconcile();
  assert.equal(status()?.bounds?.revision, 1);
});

pure("createReconciler() looks again when a rule ends, though it has just written", async () => {
  const { reconcile, setPod, status, clock } = reconcilerStage();
  const restartedAtMs = -280_000;
  setPod((pod) => ({
    ...pod,
    ready: true,
    containers: pod.containers.map((app) => ({ ...app, restartedAtMs })),
  }));
  assert.deepEqual(await reconcile(), { requeueAfterMs: 20_000 });
  assert.equal(status()?.bounds?.containers[0]?.held, "lower");
  await clock.runUntil(20_000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 30_000 });
  assert.equal(status()?.bounds?.containers[0]?.held, undefined);
});

pure("createReconciler() patches once while the cache is old", async () => {
  const { reconcile, want, patches, setPod, status } = reconcilerStage();
  await reconcile();
  want("300m");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 10_000 });
  assert.deepEqual(await reconcile(), { requeueAfterMs: 10_000 });
  assert.equal(patches.length, 1);
  setPod((pod) => limited(pod, 300));
  await reconcile();
  assert.equal(patches.length, 1);
  assert.equal(status()?.appliedCPULimit, "300m");
});

pure("createReconciler() moves a limit on that it brought to the original one itself", async () => {
  const { reconcile, want, patches, setPod, status, clock } = reconcilerStage();
  setPod((pod) => ({ ...pod, ready: true }));
  await reconcile();
  for (const limit of [300, 200]) {
    want(`${limit}m`);
    await reconcile();
    await clock.runUntil(clock.monotonic() + 1000);
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
  assert.deepEqual(sent, ["300m", "200m", "350m"]);
  assert.equal(status()?.reason, "Applied");
});

pure("createReconciler() reports once an annotation that takes no Guaranteed pod in", async () => {
  const { reconcile, setPod, events, status } = reconcilerStage();
  const annotated = (qosClass: Pod["qosClass"], text: string) =>
    setPod((pod) => {
      const annotations = { [SKIP_GUARANTEED]: text };
      return { ...pod, qosClass, metadata: { ...pod.metadata, annotations } };
    });
  annotated("Guaranteed", "true");
  await reconcile();
  assert.deepEqual(events, []);
  annotated("Guaranteed", "no");
  assert.deepEqual(await reconcile(), {});
  await reconcile();
  assert.equal(status(), undefined);
  assert.deepEqual(events.map(({ reason, message }) => [reason, message]), [[
    "AnnotationIgnored",
    'mbcas.io/skip-guaranteed: "no" is not "true" or "false"',
  ]]);
});

pure("createReconciler() writes a pending reason only when it lasts over 2 s", async () => {
  const { reconcile, status, clock } = reconcilerStage();
  await reconcile();
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
  assert.equal(status()?.phase, undefined);
  await clock.runUntil(2000);
  await reconcile();
  assert.equal(status()?.phase, "Pending");
  assert.equal(status()?.reason, "Waiting");
});

pure("createReconciler() writes that it waits when its turn has come behind others", async () => {
  const { reconcile, status, clock, nodeWrites, woken } = reconcilerStage();
  await reconcile();
  await reconcile();
  await clock.runUntil(2000);
  for (let one = 0; one < 10_000; one++) nodeWrites.agentAway.take({ podKey: `zone/p${one}` });
  assert.deepEqual(await reconcile(), { requeueAfterMs: 30_000 });
  assert.equal(status()?.phase, undefined);
  // Namespaces take turns.
  await clock.runUntil(2100);
  assert.ok(woken.includes("shop/web"));
  await reconcile();
  assert.equal(status()?.reason, "Waiting");
});

pure(
  "createReconciler() holds pods of a node that is drained while a zone's nodes are away",
  async () => {
    const { reconcile, status, nodes, nodeWrites } = reconcilerStage();
    await reconcile();
    for (let one = 0; one < 10_000; one++) nodeWrites.failed.take({ podKey: `zone/p${one}` });
    const node = sampleNode("node-1");
    nodes.set("node-1", { ...node, ready: false });
    await reconcile();
    assert.notEqual(status()?.bounds?.containers[0]?.held, "both");
    nodes.set("node-1", { ...node, draining: true });
    await reconcile();
    assert.equal(status()?.bounds?.containers[0]?.held, "both");
  },
);

pure("createReconciler() gets another turn soon when its write meets another", async () => {
  const { reconcile, status, nodes, nodeWrites, clock, state } = reconcilerStage();
  await reconcile();
  for (let one = 0; one < 10_000; one++) nodeWrites.failed.take({ podKey: `zone/p${one}` });
  nodes.set("node-1", { ...sampleNode("node-1"), ready: false });
  state.storeRefusals.writeStatus = new ApiError(409, "Conflict", "the object has been modified");
  for (let look = 0; look < 3; look++) {
    await reconcile();
    await clock.runUntil(clock.monotonic() + 100);
    assert.notEqual(status()?.bounds?.containers[0]?.held, "both");
  }
  delete state.storeRefusals.writeStatus;
  await reconcile();
  await clock.runUntil(clock.monotonic() + 100);
  await reconcile();
  assert.equal(status()?.bounds?.containers[0]?.held, "both");
});

pure("createReconciler() keeps the server's message during the back-off", async () => {
  const { reconcile, want, state, status, clock, patches } = reconcilerStage();
  await reconcile();
  want("300m");
  state.refusal = new ApiError(403, "Forbidden", "exceeded quota");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  await clock.runUntil(999);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1 });
  assert.equal(patches.length, 1);
  assert.partialDeepStrictEqual(status(), {
    ...{ reason: "QuotaExceeded", phase: "Failed", message: "exceeded quota" },
    lastAttemptTime: "1970-01-01T00:00:00.000Z",
  });
  await clock.runUntil(1000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
});

pure("createReconciler() calls a refused restore RestoreBlocked, and retries it", async () => {
  const { reconcile, setPod, state, status, clock } = reconcilerStage();
  await reconcile();
  setPod((pod) => {
    const { metadata } = limited(pod, 300);
    return { ...limited(pod, 300), metadata: { ...metadata, labels: { [MANAGED]: "false" } } };
  });
  state.refusal = new ApiError(403, "Forbidden", "exceeded quota");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  assert.equal(status()?.reason, "RestoreBlocked");
  assert.equal(status()?.phase, "Failed");
  state.refusal = undefined;
  await clock.runUntil(1000);
  await reconcile();
  setPod((pod) => limited(pod, 200));
  assert.equal(state.removed, 0);
  await reconcile();
  assert.equal(state.removed, 1);
});

pure("createReconciler() forgets a refusal when a pod of the same name is born", async () => {
  const { reconcile, want, state, setPod, clock } = reconcilerStage();
  await reconcile();
  want("300m");
  state.refusal = new ApiError(422, "Invalid", "metadata.uid: field is immutable");
  assert.deepEqual(await reconcile(), {});
  state.refusal = new ApiError(403, "Forbidden", "no");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  await clock.runUntil(1000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
  setPod((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: "u2" } }));
  assert.deepEqual(await reconcile(), { requeueAfterMs: 30_000 });
  setPod((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: "u1" } }));
  assert.deepEqual(await reconcile(), { requeueAfterMs: 30_000 });
  want("300m");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
});

pure("createReconciler() reports an ignored annotation once", async () => {
  const { reconcile, setPod, events, clock } = reconcilerStage();
  setPod((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { [MAX_CPU]: "64" } },
  }));
  await reconcile();
  await clock.runUntil(600_000);
  await reconcile();
  const reported = events.filter(({ reason }) => reason === "AnnotationIgnored");
  assert.equal(reported.length, 1);
  assert.equal(reported[0]?.type, "Warning");
  assert.match(reported[0]?.message ?? "", /max-cpu: "64" asks for more/);
});

pure("createReconciler() removes the allocation of a finished pod without a restore", async () => {
  for (const phase of ["Succeeded", "Failed"] as const) {
    const { reconcile, setPod, want, patches, state, status } = reconcilerStage();
    await reconcile();
    want("300m");
    setPod((pod) => {
      const metadata = { ...pod.metadata, labels: { [MANAGED]: "false" } };
      return { ...limited(pod, 300), phase, metadata };
    });
    assert.deepEqual(await reconcile(), {});
    assert.deepEqual([state.removed, status(), patches.length], [1, undefined, 0]);
    assert.deepEqual(await reconcile(), {});
    assert.equal(state.removed, 1);
  }
});

pure(
  "createReconciler() makes no allocation on a node with a kubelet that can't resize",
  async () => {
    const { reconcile, nodes, status } = reconcilerStage();
    nodes.set("node-1", { ...sampleNode("node-1"), kubeletVersion: "v1.32.4" });
    assert.deepEqual(await reconcile(), {});
    assert.equal(status(), undefined);
    nodes.set("node-1", { ...sampleNode("node-1"), kubeletVersion: "v1.33.0" });
    await reconcile();
    assert.equal(status()?.bounds?.revision, 1);
  },
);

pure("createReconciler() leaves a refused creation to the loop's back-off", async () => {
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

pure("createReconciler() waits longer with each conflict, and anew after a success", async () => {
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

pure("createReconciler() waits longer when a status can't be written for its age", async () => {
  const { reconcile, state } = reconcilerStage();
  state.storeRefusals.writeStatus = new ApiError(409, "Conflict", "the object has been modified");
  const waits: unknown[] = [];
  for (let time = 0; time < 3; time++) waits.push((await reconcile()).requeueAfterMs);
  assert.deepEqual(waits, [100, 200, 400]);
});

pure("createReconciler() lets a pod that is put off time and again wait by itself", async () => {
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

pure("createReconciler() counts resizes of a pod that is gone and those of old state", async () => {
  const { reconcile, state, want, answers } = reconcilerStage();
  await reconcile();
  want("300m");
  for (const code of [409, 404]) {
    state.refusal = new ApiError(code, "", "no");
    await reconcile();
  }
  assert.deepEqual(answers.map(({ outcome }) => outcome), ["conflict", "gone"]);
});

pure(
  "createReconciler() waits longer each time that the kubelet calls a resize infeasible",
  async () => {
    const { reconcile, setPod, want, clock, patches, status } = reconcilerStage();
    await reconcile();
    const message =
      'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
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
  },
);
