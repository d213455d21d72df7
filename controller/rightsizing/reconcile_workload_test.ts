import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod, ResizeCondition } from "../../shared/api/pod.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { type ContainerFields, withFields } from "../../tests/fixtures/container_fields.ts";
import { cpuRanges } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingSnapshot,
  type SnapshotChoice,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { createUsageAnswers } from "../../tests/fixtures/rightsizing/usage_answers.ts";
import { recordOf } from "../../tests/fixtures/rightsizing/workload_records.ts";
import {
  failedOutcome,
  lacksSamplesBriefly,
  type ReconcileOutcome,
  unfinishedResizes,
  unreadableOutcome,
} from "./outcome.ts";
import { type ReconcileSubject, reconcileWorkload } from "./reconcile_workload.ts";

const MINUTE_MS = 60_000;

interface PassChoice extends SnapshotChoice {
  readonly before?: WorkloadRecord | undefined;
  readonly refusals?: Readonly<Record<string, ApiError>>;
  /** @default {120} */
  readonly seen?: number;
  readonly aborted?: boolean;
  /** How long the usage and each request take, ms. @default {0} */
  readonly takesMs?: number;
  /** Names of another workload's pods in the namespace. @default none */
  readonly unmanaged?: readonly string[];
}

/** A look at Deployment `web`, which uses 150 m and 80 Mi: 180 m and 96 Mi are recommended. */
async function look({ before, unmanaged = [], ...rest }: PassChoice = {}) {
  const { refusals = {}, seen = 120, aborted = false, takesMs = 0, ...choice } = rest;
  const { samples: _samples, memoryPeaks: _peaks, recommendations: _none, ...snapshot } =
    rightsizingSnapshot(choice);
  const source = createUsageAnswers();
  const reported = source.of({ namespace: "shop", kind: "Deployment", name: "web" }, "app");
  for (let minute = 0; minute < seen; minute++) {
    reported.cpu.push([NOW_MS - minute * MINUTE_MS, 150]);
    reported.memory.push([NOW_MS - minute * MINUTE_MS, 80 * MI]);
  }
  const appliers = recordedAppliers();
  for (const [what, error] of Object.entries(refusals)) appliers.refusals.set(what, error);
  const end = new AbortController();
  if (aborted) end.abort();
  const others = unmanaged.map((name) => workloadPod(name, snapshot.workload.template.containers));
  const outcome = await reconcileWorkload(subjectOf(before, choice), {
    source,
    appliers,
    clock: { wall: () => NOW_MS + (source.asked.length + appliers.asked.length) * takesMs },
    cluster: {
      podsOf: () => ({ pods: snapshot.pods, otherPods: others }),
      correctionsOf: () => new Map(),
      snapshotOf: (one, known) => ({ ...snapshot, policy: one.policy, ...known }),
    },
  }, { signal: end.signal });
  return { outcome, appliers, question: source.asked[0] };
}

function subjectOf(before?: WorkloadRecord, choice: PassChoice = {}): ReconcileSubject {
  const { workload } = rightsizingSnapshot(choice);
  const metadata = { namespace: "shop", name: "all" };
  const policy = { metadata, spec: autoPolicy(choice.strategy) };
  return { workload, policy, before, denial: undefined };
}

const BUSY = new ApiError(503, "ServiceUnavailable", "busy");
const eventsOf = (outcome: ReconcileOutcome | undefined): string[] =>
  outcome?.events.map(({ reason }) => reason) ?? [];

pure("reconcileWorkload() applies what it recommends, and records it with times", async () => {
  const before = recordOf("web", { uid: "uid-web", appliedAtMs: NOW_MS - 60 * MINUTE_MS });
  const { outcome, appliers } = await look({ takesMs: MINUTE_MS, before });
  const { status, method, inForce, recommendedAtMs, appliedAtMs } = outcome?.record ?? {};
  assert.deepEqual([status, method], ["Applied", "InPlace"]);
  assert.deepEqual(inForce, [{
    container: "app",
    cpu: 180,
    memory: 96 * MI,
    adoptedOn: { cpu: 100, memory: 64 * MI, cpuLimit: 200, memoryLimit: 128 * MI },
  }]);
  // The usage took a minute. Kills follow applied values, so those count from the first request.
  assert.deepEqual([recommendedAtMs, appliedAtMs], [NOW_MS, NOW_MS + MINUTE_MS]);
  assert.equal(appliers.asked.length, 2);
  assert.deepEqual(eventsOf(outcome), ["OptimizationApplied"]);
});

pure("reconcileWorkload() asks for all containers but sidecars", async () => {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const { question } = await look({ containers, unmanaged: ["db-1"] });
  assert.deepEqual(question, {
    namespace: "shop",
    workload: { kind: "Deployment", name: "web", uid: "uid-web" },
    pods: ["web-1", "web-2"],
    otherPods: ["db-1"],
    containers: ["app"],
    window: { fromMs: NOW_MS - autoPolicy().windowMs, toMs: NOW_MS },
  });
});

pure("reconcileWorkload() reports a failure once, and a cut when it was done", async () => {
  const refusals = { "resize web-1": BUSY, "resize web-2": BUSY };
  const first = await look({ refusals });
  const { status, reason, inForce, message } = first.outcome?.record ?? {};
  assert.deepEqual([status, reason, inForce], ["Error", "ServerBusy", []]);
  assert.match(message ?? "", /^2 pods, web-1: busy/);
  assert.deepEqual(eventsOf(first.outcome), ["UpdateFailed"]);
  const second = await look({ refusals, before: first.outcome?.record });
  assert.deepEqual(eventsOf(second.outcome), []);
  const third = await look({ before: second.outcome?.record });
  assert.deepEqual(eventsOf(third.outcome), ["OptimizationApplied"]);
});

pure("reconcileWorkload() keeps values and recommendation while samples lack", async () => {
  const { outcome } = await look();
  const before = { ...outcome?.record, recommendedAtMs: 5 } as WorkloadRecord;
  const { record } = (await look({ before, seen: 3 })).outcome ?? assert.fail();
  assert.deepEqual([record.status, record.reason], ["Skipped", "InsufficientSamples"]);
  assert.deepEqual([record.recommendations, record.recommendedAtMs], [before.recommendations, 5]);
  assert.deepEqual(record.usage, before.usage);
  assert.deepEqual(record.inForce, before.inForce);
  const without = (await look({ before, seen: 0 })).outcome ?? assert.fail();
  assert.equal(without.record.message, "app has 0 of 10 samples");
  assert.deepEqual(without.record.recommendations, before.recommendations);
  assert.deepEqual(without.record.inForce, before.inForce);
});

pure("reconcileWorkload() lowers what is in force to a LimitRange only", async () => {
  const strategy = { updateRequestsOnly: false };
  const { inForce } = (await look({ strategy })).outcome?.record ?? assert.fail();
  const ranges = cpuRanges({ max: 150 });
  const quotas = [{ name: "q", resource: "cpu", side: "requests", room: 0 }] as const;
  const largestNode = { allocatableCPU: 120, allocatableMemory: Infinity };
  const rows = [[{ ranges }, 150], [{ quotas }, 180], [{ largestNode }, 180]] as const;
  for (const [bound, cpu] of rows) {
    const before = recordOf("web", { inForce });
    const { outcome } = await look({ ...bound, strategy, before, seen: 3, resizeServed: false });
    assert.equal(outcome?.record.inForce[0]?.cpu, cpu, JSON.stringify(bound));
  }
});

pure("reconcileWorkload() leaves applied what was cut, and reports it once", async () => {
  const containers = [templateContainer({ limits: { cpu: 120 } })];
  const first = (await look({ containers })).outcome ?? assert.fail();
  assert.deepEqual([first.record.status, first.record.reason], ["Applied", "RequestAboveLimit"]);
  const [{ cpu = NaN, memory = NaN } = assert.fail()] = first.record.inForce;
  const resized = templateContainer({ requests: { cpu, memory }, limits: { cpu: 120 } });
  const pods = ["web-1", "web-2"].map((name) => workloadPod(name, [resized]));
  const { appliedAtMs: _at, ...before } = first.record;
  const { outcome, appliers } = await look({ containers, pods, before });
  const { status, reason } = outcome?.record ?? {};
  assert.deepEqual([status, reason], ["Applied", "RequestAboveLimit"]);
  assert.deepEqual([outcome?.record.inForce, appliers.asked], [before.inForce, []]);
  assert.deepEqual(eventsOf(outcome), []);
  // Under another reason, it does not count as skipped either.
  const renamed = await look({ containers, pods, before: { ...before, reason: "HPAConflict" } });
  assert.deepEqual(eventsOf(renamed.outcome), []);
});

pure("reconcileWorkload() has applied nothing to a workload made anew under its name", async () => {
  const first = (await look()).outcome?.record ?? assert.fail();
  for (const [uid, appliedAtMs] of [["uid-web", NOW_MS - 1], ["older", undefined]] as const) {
    const { outcome } = await look({ before: { ...first, uid, appliedAtMs: NOW_MS - 1 } });
    assert.equal(outcome?.record.appliedAtMs, appliedAtMs);
  }
});

pure("reconcileWorkload() reports what kubelets have against the values in force", async () => {
  const before = (await look()).outcome?.record;
  const containers = [templateContainer({ requests: { cpu: 180, memory: 96 * MI } })];
  const condition = { type: "PodResizePending", ...INFEASIBLE, observedGeneration: 9 } as const;
  const pods = [{ ...workloadPod("web-1", containers), resizeConditions: [condition] }];
  const { outcome } = await look({ before, pods });
  assert.deepEqual([outcome?.record.status, outcome?.record.reason], ["Error", "NodeCapacity"]);
  assert.deepEqual(eventsOf(outcome), ["UpdateFailed"]);
});

pure("reconcileWorkload() does and reports nothing once it is called off", async () => {
  const { outcome, appliers } = await look({ aborted: true });
  assert.deepEqual([outcome, appliers.asked], [undefined, []]);
});

pure("failedOutcome() reports an error once, and keeps what is in force", async () => {
  const { outcome } = await look();
  const first = failedOutcome(subjectOf(outcome?.record), new TypeError("Cannot add"));
  assert.deepEqual([first.record.status, first.record.reason], ["Error", "EvaluationFailed"]);
  assert.deepEqual(first.record.inForce, outcome?.record.inForce);
  assert.deepEqual(eventsOf(first), ["UpdateFailed"]);
  assert.deepEqual(eventsOf(failedOutcome(subjectOf(first.record), new TypeError("Cannot"))), []);
});

pure("unreadableOutcome() reports the cause once, and keeps the values", async () => {
  const { outcome } = await look();
  const { kind, metadata } = subjectOf(undefined).workload;
  const workload = { kind, metadata, unreadableTemplate: "Cannot read it" };
  const passAfter = (before: WorkloadRecord | undefined) =>
    unreadableOutcome({ ...subjectOf(before), workload });
  const first = passAfter(outcome?.record);
  const { status, reason, message, inForce, recommendations } = first.record;
  assert.deepEqual([status, reason, message], ["Error", "UnreadableTemplate", "Cannot read it"]);
  assert.deepEqual(inForce, outcome?.record.inForce);
  assert.deepEqual(recommendations, outcome?.record.recommendations);
  assert.equal(first.recommends, false);
  assert.deepEqual(eventsOf(first), ["DiscoveryFailed"]);
  assert.deepEqual(eventsOf(passAfter(first.record)), []);
});

/** 180 m and 96 Mi are in force, and the pods that there are have the template's values. */
const BEHIND = recordOf("web", {
  status: "Applied",
  recommendations: [],
  inForce: [{ container: "app", cpu: 180, memory: 96 * MI }],
});

pure("reconcileWorkload() calls nothing applied that no way leads to, and says why", async () => {
  const rows = [
    [{ resizeServed: false }, "InPlaceResizeUnavailable"],
    [{ strategy: { allowInPlaceResize: false } }, "MethodNotAllowed"],
  ] as const;
  for (const [choice, reason] of rows) {
    const { outcome, appliers } = await look({ before: BEHIND, ...choice });
    assert.deepEqual([outcome?.record.status, outcome?.record.reason], ["Skipped", reason]);
    assert.equal(outcome?.events.length, 1);
    assert.equal(outcome.events[0]?.type, "Warning");
    assert.deepEqual(appliers.asked, []);
    const { outcome: again } = await look({ before: outcome.record, ...choice });
    assert.deepEqual(again?.events, []);
    const requests = { cpu: 180, memory: 96 * MI };
    const pods = [workloadPod("web-1", [templateContainer({ requests })])];
    const { outcome: there } = await look({ before: BEHIND, pods, ...choice });
    assert.equal(there?.record.status, "Applied");
  }
});

const NAMED = { namespace: "shop", name: "all" };
const RECORDED = recordOf("web", {
  ...{ uid: "uid-web", status: "Applied", recommendedAtMs: NOW_MS - MINUTE_MS },
});

pure("lacksSamplesBriefly() is true within an hour, for half the samples", () => {
  const of = (change: Partial<WorkloadRecord>, have = 9, windowMs = 300_000): boolean => {
    const samples = new Map([["app", have]]);
    const snapshot = rightsizingSnapshot({ samples, policy: autoPolicy({}, { windowMs }) });
    const now = { uid: "uid-web", policy: NAMED };
    return lacksSamplesBriefly(snapshot, { before: { ...RECORDED, ...change }, now });
  };
  const anHourAgo = { recommendedAtMs: NOW_MS - 3_600_001 };
  const rows = [
    [of({}), true],
    [of({}, 5), true],
    [of({}, 4), false],
    [of({ status: "Error" }), false],
    [of({ reason: "InsufficientSamples" }), false],
    [of({ status: "Skipped", reason: "ProviderUnavailable" }), false],
    [of({ status: "Skipped", reason: "MetricsMissing" }), false],
    [of({ status: "Skipped", reason: "Cooldown" }), true],
    [of({ uid: "uid-former" }), false],
    [of({ policy: { ...NAMED, name: "other" } }), false],
    [of(anHourAgo), false],
    [of(anHourAgo, 9, 4_000_000), true],
    [lacksSamplesBriefly(rightsizingSnapshot(), { before: undefined, now: RECORDED }), false],
  ] as const;
  assert.deepEqual(rows.map(([found]) => found), rows.map(([, expected]) => expected));
});

function podOf(name: string, condition?: Partial<ResizeCondition>): Pod {
  const pod = workloadPod(name, [templateContainer()]);
  if (condition === undefined) return pod;
  const whole = { type: "PodResizePending", reason: "", message: "", ...condition } as const;
  return {
    ...pod,
    metadata: { ...pod.metadata, generation: 2 },
    resizeConditions: [{ observedGeneration: 2, ...whole }],
  };
}

const DEFERRED = { reason: "Deferred", message: "node is full" };
const INFEASIBLE = { reason: "Infeasible", message: "Node didn't have enough capacity: cpu" };
const IN_PROGRESS = { type: "PodResizeInProgress" } as const;

pure("unfinishedResizes() has the worst resize condition, and counts pods", () => {
  const of = (...conditions: readonly (Partial<ResizeCondition> | undefined)[]) => {
    const pods = conditions.map((one, index) => podOf(`web-${index}`, one));
    const found = unfinishedResizes(pods, { marketManages: false });
    return found && `${found.reason}: ${found.message}`;
  };
  assert.equal(of(undefined), undefined);
  assert.equal(of(IN_PROGRESS), undefined);
  assert.equal(of(undefined, DEFERRED), "ResizeDeferred: 1 pods, web-1: node is full");
  const worst = `NodeCapacity: 2 pods, web-1: ${INFEASIBLE.message}`;
  assert.equal(of(DEFERRED, INFEASIBLE, undefined), worst);
  const failed = of(DEFERRED, { ...IN_PROGRESS, reason: "Error" });
  assert.match(failed ?? "", /^ResizeError: 2 pods, web-1/);
  // A condition of an older spec does not count.
  assert.equal(of({ ...INFEASIBLE, observedGeneration: 1 }), undefined);
});

pure("unfinishedResizes() leaves out what only the market's limits wait for", () => {
  const waiting = (container: ContainerFields): string | undefined => {
    const pod = podOf("web-1", DEFERRED);
    const containers = pod.containers.map((one) => withFields(one, container));
    return unfinishedResizes([{ ...pod, containers }], { marketManages: true })?.reason;
  };
  const requests = { cpu: 100, memory: 64 };
  const limit = { requests, limits: { cpu: 400 }, applied: { limits: { cpu: 200 } } };
  const memoryLimit = { limits: { memory: 128 }, applied: { limits: { memory: 256 } } };
  const lessCPU = { requests, allocated: { ...requests, cpu: 90 } };
  assert.equal(waiting({ ...limit, allocated: requests }), undefined);
  assert.equal(waiting(limit), undefined);
  assert.equal(waiting({ ...lessCPU, sidecar: true }), undefined);
  assert.equal(waiting(lessCPU), "ResizeDeferred");
  assert.equal(waiting({ requests, allocated: { ...requests, memory: 63 } }), "ResizeDeferred");
  assert.equal(waiting({ requests, allocated: requests, ...memoryLimit }), "ResizeDeferred");
});
