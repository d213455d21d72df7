import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import { INFEASIBLE_REASONS } from "../../shared/resize/inputs/resize_condition.ts";
import { REFUSAL_REASONS } from "../../shared/resize/refusal.ts";
import { REASON_PLACES } from "../../tools/reasons_page.ts";
import { type ReconcilerStage, reconcilerStage } from "../fixtures/market/reconciler_stage.ts";

/** What kubelets say of a resize that they will never do. */
const KUBELET: Readonly<Record<string, string>> = {
  StaticCPUManager: "Resize is infeasible for Guaranteed Pods alongside CPU Manager policy static",
  StaticMemoryManager: "Resize is infeasible for Guaranteed Pods alongside Memory Manager policy",
  SwapEnabled: "In-place resize of containers with swap is not supported.",
  NodeCapacity: "Node didn't have enough capacity: cpu, requested: 9000, capacity: 2000",
  StaticPod: "In-place resize of static-pods is not supported",
  WindowsPod: "In-place pod resize is not supported on Windows",
  PodLevelResources: "pod-level resources resize is not supported",
  KubeletTooOld: "InPlacePodVerticalScaling is disabled",
  ResizeInfeasible: "no",
};

/** What servers say of a resize that they refuse. */
const SERVER: Readonly<Record<string, string>> = {
  AdmissionDenied: 'admission webhook "w" denied the request: no',
  QuotaExceeded: "exceeded quota: cpu",
  LimitRange: "maximum cpu usage per Container is 500m, but limit is 600m",
  NodeCapacity: "node didn't have enough capacity: cpu, requested: 9000, capacity: 2000",
  PodLevelResources: "pods with pod-level resources cannot be resized",
  StaticPod: "static pods cannot be resized",
  WindowsPod: "windows pods cannot be resized",
  DeviceClaims: "pods with node allocatable resource claims cannot be resized",
  KubeletTooOld: "Pod running on node without support for resize",
  QoSWouldChange: "Pod QOS Class may not change as a result of resizing",
  Refused: "no",
};

const HELD = "`mbcas_held_total{reason}`";
const RESIZES = "`mbcas_resizes_total{reason}`";

/** Where the reason was met in a scene; `before`: events of other things. */
function seen(
  { status, events, heldBy, answers }: ReconcilerStage,
  { wanted, before }: { readonly wanted: EnforcementReason; readonly before: number },
): readonly string[] {
  return [
    ...(status()?.reason === wanted ? ["`status.reason`", "`mbcas_allocations{reason}`"] : []),
    ...(heldBy.includes(wanted) ? [HELD] : []),
    ...(answers.some(({ reason }) => reason === wanted) ? [RESIZES] : []),
    ...events.slice(before).map(({ reason }) => `event \`${reason}\``),
  ];
}

function listed(wanted: EnforcementReason): readonly string[] {
  const { usual, others } = REASON_PLACES.enforcement;
  return others[wanted] ?? usual;
}

const BY_SCENE = new Set(["`status.reason`", HELD, RESIZES, "event `CPULimitFailed`"]);

async function begun(): Promise<{ readonly stage: ReconcilerStage; readonly before: number }> {
  const stage = reconcilerStage();
  await stage.reconcile();
  stage.want("300m");
  return { stage, before: stage.events.length };
}

pure("REASON_PLACES has each place where a resize condition is met", async () => {
  assert.deepEqual(new Set(Object.keys(KUBELET)), INFEASIBLE_REASONS);
  for (const [name, message] of Object.entries(KUBELET)) {
    const wanted = name as EnforcementReason;
    const { stage, before } = await begun();
    await stage.reconcile();
    stage.setPod((pod) => ({
      ...pod,
      containers: pod.containers.map((app) => ({ ...app, limits: { ...app.limits, cpu: 300 } })),
      resizeConditions: [{ type: "PodResizePending", reason: "Infeasible", message }],
    }));
    await stage.reconcile();
    const places = seen(stage, { wanted, before });
    assert.ok(places.includes("`status.reason`"), name);
    assert.ok(places.includes("event `CPULimitHeld`"), name);
    assert.deepEqual(places.filter((place) => !listed(wanted).includes(place)), [], name);
  }
});

pure(
  "REASON_PLACES has each place where a server's refusal is met, and no other of them",
  async () => {
    assert.deepEqual(new Set(Object.keys(SERVER)), REFUSAL_REASONS);
    for (const [name, message] of Object.entries(SERVER)) {
      const wanted = name as EnforcementReason;
      const { stage, before } = await begun();
      stage.state.refusal = new ApiError(403, "Forbidden", message);
      await stage.reconcile();
      const places = seen(stage, { wanted, before });
      assert.deepEqual(places.filter((place) => !listed(wanted).includes(place)), [], name);
      const claimed = listed(wanted).filter((place) => BY_SCENE.has(place));
      assert.deepEqual(claimed.filter((place) => !places.includes(place)), [], name);
    }
  },
);

pure("REASON_PLACES has each place where a reason that waits is met", async () => {
  const { reconcile, clock, ...stage } = reconcilerStage();
  await reconcile();
  const before = stage.events.length;
  await reconcile();
  await clock.runUntil(2000);
  await reconcile();
  const places = seen({ ...stage, reconcile, clock }, { wanted: "Waiting", before });
  assert.ok(places.includes(HELD));
  assert.deepEqual(places.filter((place) => !listed("Waiting").includes(place)), []);
  assert.deepEqual(listed("Waiting").filter((place) => place.startsWith("event")), []);
});
