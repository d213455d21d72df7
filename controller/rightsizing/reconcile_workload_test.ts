import assert from "node:assert/strict";
import type { KubeConnection, KubeRequest } from "../../adapters/kube/client/connection.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { effectiveSettings } from "../../shared/config/load.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../tests/fixtures/rightsizing/recorded_appliers.ts";
import {
  autoPolicy,
  type FactsChoice,
  MI,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { createUsageAnswers } from "../../tests/fixtures/rightsizing/usage_answers.ts";
import { recordOf } from "../../tests/fixtures/rightsizing_outcomes.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";
import { connectRightsizingAPI } from "./api.ts";
import { failedOutcome, type ReconcileOutcome, unreadableOutcome } from "./outcome.ts";
import { type ReconcileSubject, reconcileWorkload } from "./reconcile_workload.ts";

const MINUTE_MS = 60_000;

interface PassChoice extends FactsChoice {
  readonly before?: WorkloadRecord | undefined;
  readonly refusals?: Readonly<Record<string, ApiError>>;
  /** @default {120} */
  readonly seen?: number;
  readonly aborted?: boolean;
  /** How long each request takes, ms. @default {0} */
  readonly takesMs?: number;
  /** @default {"Auto"} */
  readonly mode?: PolicySpec["mode"];
  /** Of another workload of the namespace. @default none */
  readonly unmanaged?: readonly string[];
}

/** A look at Deployment `web`, which uses 150 m and 80 Mi: 180 m and 96 Mi are recommended. */
async function look(
  {
    before,
    refusals = {},
    seen = 120,
    aborted = false,
    takesMs = 0,
    unmanaged = [],
    ...choice
  }: PassChoice = {},
) {
  const { samples: _samples, memoryPeaks: _peaks, recommendations: _none, ...facts } =
    rightsizingFacts(choice);
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
  const others = unmanaged.map((name) => workloadPod(name, facts.workload.template.containers));
  const outcome = await reconcileWorkload(subjectOf(before, choice), {
    source,
    appliers,
    clock: { wall: () => NOW_MS + appliers.asked.length * takesMs },
    cluster: {
      podsOf: () => ({ own: facts.pods, others }),
      correctionsOf: () => new Map(),
      factsOf: (one, known) => ({ ...facts, policy: one.policy, ...known }),
    },
  }, { signal: end.signal });
  return { outcome, appliers, question: source.asked[0] };
}

function subjectOf(before?: WorkloadRecord, choice: PassChoice = {}): ReconcileSubject {
  const { workload } = rightsizingFacts(choice);
  const metadata = { namespace: "shop", name: "all" };
  const spec = autoPolicy(choice.strategy, choice.mode === undefined ? {} : { mode: choice.mode });
  const policy = { metadata, spec };
  return { workload, policy, before, denial: undefined };
}

const BUSY = new ApiError(503, "ServiceUnavailable", "busy");
const eventsOf = (outcome: ReconcileOutcome | undefined): string[] =>
  outcome?.events.map(({ reason }) => reason) ?? [];

pure("reconcileWorkload() applies what it recommends, and records it", async () => {
  const { outcome, appliers } = await look();
  const { status, method, inForce, recommendedAtMs, appliedAtMs } = outcome?.record ?? {};
  assert.deepEqual([status, method], ["Applied", "InPlace"]);
  assert.deepEqual(inForce, [{
    container: "app",
    cpu: 180,
    memory: 96 * MI,
    adoptedOn: { cpu: 100, memory: 64 * MI, cpuLimit: 200, memoryLimit: 128 * MI },
  }]);
  assert.deepEqual([recommendedAtMs, appliedAtMs], [NOW_MS, NOW_MS]);
  assert.equal(appliers.asked.length, 2);
  assert.deepEqual(eventsOf(outcome), ["OptimizationApplied"]);
});

pure("reconcileWorkload() asks for all containers but sidecars", async () => {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const { question, appliers } = await look({
    containers,
    marketManages: true,
    strategy: { updateRequestsOnly: false },
    unmanaged: ["db-1"],
  });
  assert.deepEqual(question, {
    namespace: "shop",
    workload: { kind: "Deployment", name: "web", uid: "uid-web" },
    pods: ["web-1", "web-2"],
    otherPods: ["db-1"],
    containers: ["app"],
    window: { fromMs: NOW_MS - autoPolicy().windowMs, toMs: NOW_MS },
  });
  const own = appliers.asked.filter((line) => line.startsWith("own"));
  assert.deepEqual(own, ["own web-1 app=180", "own web-2 app=180"]);
});

pure("reconcileWorkload() dates applied values by its begin: kills follow them", async () => {
  const { outcome, appliers } = await look({ takesMs: MINUTE_MS });
  assert.equal(appliers.asked.length, 2);
  assert.equal(outcome?.record.appliedAtMs, NOW_MS);
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

pure("reconcileWorkload() ends after a 403, and names pod and permission", async () => {
  const message =
    'pods "web-2" is forbidden: User "u" cannot patch resource "pods/resize" in API ' +
    'group "" in the namespace "shop"';
  const pods = ["web-1", "web-2", "web-3"].map((name) => workloadPod(name, [templateContainer()]));
  const refusals = { "resize web-2": new ApiError(403, "Forbidden", message) };
  const { outcome, appliers } = await look({ pods, refusals });
  assert.deepEqual(appliers.asked.map((line) => /web-\d/.exec(line)?.[0]), ["web-1", "web-2"]);
  const { status, reason, message: text, inForce } = outcome?.record ?? {};
  assert.deepEqual([status, reason], ["Error", "RBACError"]);
  assert.match(text ?? "", /^1 pods, web-2: .*pods\/resize .*shop$/);
  // What one pod has is in force: the others get it once the right is there.
  const [{ adoptedOn: _template, ...values } = assert.fail()] = inForce ?? [];
  assert.deepEqual(values, { container: "app", cpu: 180, memory: 96 * MI });
  assert.deepEqual(eventsOf(outcome), ["OptimizationApplied", "RBACError"]);
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
  const any = { min: 0, max: Infinity, ratio: Infinity };
  const ranges = { cpu: { container: { ...any, max: 150 }, pod: any } };
  const quotas = [{ name: "q", resource: "cpu", of: "requests", room: 0 }] as const;
  const largestNode = { allocatableCPU: 120, allocatableMemory: Infinity };
  for (
    const [bound, cpu] of [[{ ranges }, 150], [{ quotas }, 180], [{ largestNode }, 180]] as const
  ) {
    const before = recordOf("web", { inForce });
    const { outcome } = await look({ ...bound, strategy, before, seen: 3, resizeServed: false });
    assert.equal(outcome?.record.inForce[0]?.cpu, cpu, JSON.stringify(bound));
  }
});

pure("reconcileWorkload() leaves applied what was cut, and reports it once", async () => {
  const containers = [templateContainer({ limits: { cpu: 120 } })];
  const first = (await look({ containers })).outcome ?? assert.fail();
  assert.deepEqual([first.record.status, first.record.reason], ["Applied", "RequestAboveLimit"]);
  const [values] = first.record.inForce;
  const pods = ["web-1", "web-2"].map((name) =>
    workloadPod(name, [
      templateContainer({
        requests: { cpu: values?.cpu ?? NaN, memory: values?.memory ?? NaN },
        limits: { cpu: 120 },
      }),
    ])
  );
  const { appliedAtMs: _at, ...before } = first.record;
  const { outcome, appliers } = await look({ containers, pods, before });
  assert.deepEqual([outcome?.record.status, outcome?.record.reason], [
    "Applied",
    "RequestAboveLimit",
  ]);
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
  const condition = {
    type: "PodResizePending",
    reason: "Infeasible",
    observedGeneration: 9,
  } as const;
  const message = "Node didn't have enough capacity: cpu";
  const pods = [{
    ...workloadPod("web-1", containers),
    resizeConditions: [{ ...condition, message }],
  }];
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
  assert.deepEqual([inForce, recommendations], [
    outcome?.record.inForce,
    outcome?.record.recommendations,
  ]);
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
  for (
    const [choice, reason] of [
      [{ resizeServed: false }, "InPlaceResizeUnavailable"],
      [{ strategy: { allowInPlaceResize: false } }, "MethodNotAllowed"],
    ] as const
  ) {
    const { outcome, appliers } = await look({ before: BEHIND, ...choice });
    assert.deepEqual([outcome?.record.status, outcome?.record.reason], ["Skipped", reason]);
    assert.equal(outcome?.events.length, 1);
    assert.equal(outcome.events[0]?.type, "Warning");
    assert.deepEqual(appliers.asked, []);
    const { outcome: again } = await look({ before: outcome.record, ...choice });
    assert.deepEqual(again?.events, []);
    const pods = [workloadPod("web-1", [
      templateContainer({ requests: { cpu: 180, memory: 96 * MI } }),
    ])];
    const { outcome: there } = await look({ before: BEHIND, pods, ...choice });
    assert.equal(there?.record.status, "Applied");
  }
});

pure("reconcileWorkload() reports few samples in mode Recommend, too", async () => {
  const { outcome } = await look({ before: BEHIND, seen: 3, mode: "Recommend" });
  assert.deepEqual([outcome?.record.status, outcome?.record.reason], [
    "Skipped",
    "InsufficientSamples",
  ]);
});

Deno.test({
  name: "connectRightsizingAPI() resizes under a name of its own, and keeps corrections apart",
  // The YAML parser looks at two variables for its own debugging.
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const asked: KubeRequest[] = [];
    const connection: KubeConnection = {
      request(request) {
        asked.push(request);
        const metadata = { resourceVersion: "9" };
        const list = { kind: "PodMetricsList", items: [] };
        return Promise.resolve({ metadata, ...list });
      },
      async *lines() {},
    };
    const settings = effectiveSettings(CONTROLLER_SETTINGS, {});
    assert.ok(!("faults" in settings));
    const api = connectRightsizingAPI(connection, {
      namespace: "ns",
      settings: () => settings.values,
      events: { emit: () => {} },
      clock: createVirtualClock({ wallStart: 0 }),
      random: seededRandom(1),
      log: silentLog,
    });
    const patch = { metadata: { uid: "u" }, spec: {} };
    await api.resizer.resize("shop", "web-0", patch);
    assert.deepEqual(asked, [{
      method: "PATCH",
      path: "/api/v1/namespaces/shop/pods/web-0/resize",
      query: { fieldManager: "optipod" },
      contentType: "application/strategic-merge-patch+json",
      body: patch,
      auditID: undefined,
    }]);
    asked.length = 0;
    const { signal } = new AbortController();
    assert.deepEqual(await api.correctionStore.list(signal), []);
    assert.deepEqual(asked, [{
      path: "/api/v1/namespaces/ns/configmaps",
      query: { labelSelector: "optipod.io/corrections=true" },
      signal,
    }]);
    asked.length = 0;
    const over = new AbortController();
    const { run, close } = api.usage({
      ofReading: () => () => undefined,
      isWanted: () => true,
      workloadUIDs: () => (over.abort(), undefined),
    }, undefined);
    await run(over.signal);
    close();
    assert.deepEqual(asked.map(({ path, query }) => [path, query?.["labelSelector"]]), [
      ["/api/v1/namespaces/ns/configmaps", "optipod.io/usage-history=true"],
      ["/apis/metrics.k8s.io/v1beta1/pods", undefined],
    ]);
  },
});
