import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Condition } from "../../../shared/api/object.ts";
import type { PolicyStatus } from "../../../shared/api/policy_status.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import type { WorkloadEvent } from "../../../shared/rightsizing/guards/workload_events.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_ports.ts";
import { NOW_MS } from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  reconciledAs,
  recordOf,
  storedPolicy,
  workloadNamed,
} from "../../../tests/fixtures/rightsizing/workload_records.ts";
import { CONTROLLER_SETTINGS } from "../../settings.ts";
import { emitCycleEvents, policySubject, workloadSubject, writeAnnotations } from "../events.ts";
import { createRightsizingMetrics, type EndedCycle } from "../metrics.ts";
import type { RightsizingEvent } from "../ports.ts";
import type { CycleOutcome, ReconciledWorkload } from "./policy_cycle.ts";
import { reportCycle, unwrittenRecord } from "./report_cycle.ts";

pure("unwrittenRecord() names a namespace of the policy's workloads, and no other", () => {
  const unwritten = (namespace: string) => namespace === "bank" ? "forbidden" : undefined;
  const matchedIn = (...namespaces: readonly string[]) => ({
    matched: namespaces.map((namespace) =>
      reconciledAs("web", { record: { workload: { kind: "Deployment", namespace, name: "web" } } })
        .outcome.record
    ),
  });
  const problem = unwrittenRecord(matchedIn("shop", "bank"), { unwritten });
  assert.equal(problem?.reason, "RecordNotWritten");
  assert.match(problem.message, / bank: forbidden$/);
  assert.equal(unwrittenRecord(matchedIn("shop"), { unwritten }), undefined);
});

const POLICY = storedPolicy();
const RECONCILED = reconciledAs("web");
const OUTCOME: CycleOutcome = {
  matched: [RECONCILED.outcome.record],
  reconciled: [RECONCILED],
  aborted: false,
};

/** Reports of the cycle, in order, each by its beginning. */
async function reported(
  { outcome, policy = POLICY, present = policy, refuses = false, aborted = false }: {
    readonly outcome?: Partial<CycleOutcome>;
    readonly policy?: typeof POLICY;
    readonly present?: typeof POLICY | undefined;
    readonly refuses?: boolean;
    readonly aborted?: boolean;
  } = {},
): Promise<readonly string[]> {
  const { asked, workloads: writer } = recordedAppliers();
  const reporting = reportCycle(policy, {
    outcome: { ...OUTCOME, ...outcome },
    present,
    statuses: {
      writeStatus(_policy: unknown, { conditions = [], workloads }: PolicyStatus) {
        const { reason = "", message = "" } = conditions.find(({ type }) => type === "Ready") ?? {};
        asked.push(`${workloads?.length ?? "no"} workloads, ${reason}: ${message}`);
        return refuses ? Promise.reject(new TypeError("Cannot write")) : Promise.resolve("2");
      },
    },
    events: {
      emit: ({ about, reason, message }) => void asked.push(`${about.kind} ${reason}: ${message}`),
    },
    writer,
    vpas: {
      publish: (_policy, { reconciled }) =>
        Promise.resolve(void asked.push(`publish ${reconciled.length}`)),
    },
    permits: createPermits(() => 1),
    settings: () => ({ ...CONTROLLER_SETTINGS.parse({}), annotateWorkloads: true }),
    clock: { wall: () => NOW_MS },
    log: silentLog,
    signal: aborted ? AbortSignal.abort() : new AbortController().signal,
  });
  if (refuses) await assert.rejects(reporting, TypeError);
  else await reporting;
  return asked.map((line) => line.replace(/ \{.*|: each field of the policy is valid$/, ""));
}

const VALID = "1 workloads, PolicyValid";
const REST = ["publish 1", "annotate web"];

pure("reportCycle() writes the status first, and reports in any case", async () => {
  assert.deepEqual(await reported(), [VALID, ...REST]);
  assert.deepEqual(await reported({ refuses: true }), [VALID, ...REST]);
  assert.deepEqual(await reported({ aborted: true }), [VALID]);
});

pure("reportCycle() writes no status of an aborted or outdated cycle", async () => {
  assert.deepEqual(await reported({ outcome: { aborted: true } }), REST);
  for (const change of [{ uid: "q" }, { generation: 2 }]) {
    assert.deepEqual(await reported({ present: storedPolicy("all", {}, change) }), REST);
  }
  const disabled = storedPolicy("all", { mode: "Disabled" });
  assert.deepEqual(await reported({ policy: disabled }), ["no workloads, PolicyValid", ...REST]);
});

function withCondition(policy: typeof POLICY, reason: Condition["reason"], message: string) {
  const lastTransitionTime = new Date(NOW_MS).toISOString();
  const state = { type: "Ready", status: "False" } as const;
  const condition = { ...state, reason, message, lastTransitionTime };
  return { ...policy, status: { conditions: [condition] } };
}

pure("reportCycle() reports an unwritable record in one event, and each status", async () => {
  const outcome = { unwritten: { reason: "RecordNotWritten", message: "forbidden" } as const };
  const [event, status] = await reported({ outcome });
  assert.match(event ?? "", /^OptimizationPolicy UpdateFailed: RecordNotWritten: forbidden; /);
  assert.equal(status, "1 workloads, RecordNotWritten: forbidden");
  const present = withCondition(POLICY, "RecordNotWritten", "");
  assert.deepEqual(await reported({ outcome, present }), [status, ...REST]);
  // A problem of the policy comes before that of its record.
  const problem = { reason: "ProviderUnavailable", message: "refused" } as const;
  const [, other] = await reported({ outcome: { ...outcome, problem } });
  assert.equal(other, "1 workloads, ProviderUnavailable: refused");
});

pure("reportCycle() reports a window with too few samples in one event", async () => {
  const policy = storedPolicy("all", { provider: "metrics-server", windowMs: 300_000 });
  const [event = "", status] = await reported({ policy });
  assert.match(event, /^OptimizationPolicy MetricsCollectionFailed: InsufficientSamples: /);
  assert.match(status ?? "", /^1 workloads, PolicyValid: .* minSamples/);
  const [, lack = ""] = /InsufficientSamples: (.*?); /.exec(event) ?? [];
  const present = withCondition(policy, "PolicyValid", `valid; ${lack}`);
  assert.equal((await reported({ policy, present }))[0], status);
  const namespaces = { allow: ["elsewhere"], deny: [] };
  const reaching = storedPolicy("all", { selector: { namespaces, workloadKinds: ["Deployment"] } });
  assert.match((await reported({ policy: reaching }))[0] ?? "", /PolicyValid: .*elsewhere/);
});

const record = recordOf("web");

pure("emitCycleEvents() emits an event a workload, and one a kind on the policy", () => {
  const emitted: RightsizingEvent[] = [];
  const skipped: WorkloadEvent = { type: "Normal", reason: "WorkloadSkipped", message: "why" };
  const failed: WorkloadEvent = { type: "Warning", reason: "UpdateFailed", message: "what" };
  emitCycleEvents(storedPolicy(), {
    reconciled: [
      reconciledAs("web", { events: [skipped] }),
      reconciledAs("db", { events: [skipped, failed] }),
      reconciledAs("job", { events: [skipped] }),
    ],
    events: { emit: (event) => void emitted.push(event) },
  });
  const of = (uid: string): string[] =>
    emitted.filter(({ about }) => about.uid === uid).map(({ message }) => message);
  assert.deepEqual([of("uid-web"), of("uid-db")], [["why"], ["why", "what"]]);
  const onPolicy = ["Deployment shop/web (and 2 more): why", "Deployment shop/db: what"];
  assert.deepEqual(of("all"), onPolicy);
  assert.deepEqual(emitted[0]?.about, workloadSubject(workloadNamed("web")));
  assert.deepEqual(emitted.at(-1)?.about, policySubject(storedPolicy()));
});

pure("writeAnnotations() writes what differs, and removes those without value", async () => {
  const appliers = recordedAppliers();
  const parts = { workloads: appliers.workloads, permits: createPermits(() => 2), log: silentLog };
  await writeAnnotations([{ workload: workloadNamed("web"), record }], parts);
  const [first = ""] = appliers.asked;
  assert.match(first, /^annotate web .*"optipod\.io\/recommendation\.app\.cpu-request":"150m"/);
  const annotations = JSON.parse(first.slice("annotate web ".length));
  await writeAnnotations([{ workload: workloadNamed("web", annotations), record }], parts);
  assert.equal(appliers.asked.length, 1);
  const unmanaged = { workload: workloadNamed("web", annotations), record: undefined };
  await writeAnnotations([unmanaged], parts);
  assert.match(appliers.asked[1] ?? "", /"optipod\.io\/managed":null/);
});

pure("writeAnnotations() goes on after a refusal, and logs it", async () => {
  const appliers = recordedAppliers();
  const emitted: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (_message: string, fields = {}) => void emitted.push(Object.values(fields)[0]),
  };
  appliers.refusals.set("annotate web", new ApiError(403, "Forbidden", "no"));
  appliers.refusals.set("annotate db", new ApiError(404, "NotFound", "gone"));
  const updates = ["web", "db", "job"].map((name) => ({ workload: workloadNamed(name), record }));
  await writeAnnotations(updates, {
    workloads: appliers.workloads,
    permits: createPermits(() => 1),
    log,
  });
  assert.equal(appliers.asked.length, 3);
  assert.deepEqual(emitted, ["Deployment shop/web"]);
});

const ALL = { namespace: "shop", name: "all" };
const BATCH = { namespace: "shop", name: "batch" };

function stage() {
  const registry = new Registry();
  const metrics = createRightsizingMetrics(registry);
  /** Series of a policy, without its labels and prefix; buckets and times left out. */
  async function served({ name } = ALL): Promise<Readonly<Record<string, number>>> {
    const own = `namespace="shop",policy="${name}"`;
    const lines = (await registry.metrics()).split("\n")
      .filter((line) =>
        line.includes(own) && /^mbcas_/.test(line) && !/le=|_seconds_sum/.test(line)
      );
    return Object.fromEntries(lines.map((line) => {
      const [, series = "", value] = /^mbcas_rightsizing_(\S+) (\S+)$/.exec(line) ??
        assert.fail(line);
      return [series.replace(own, "").replace("{}", "").replace("{,", "{"), Number(value)];
    }));
  }
  const ended = (
    cycle: Partial<EndedCycle["outcome"]> & Pick<EndedCycle, "error">,
    policy = ALL,
  ): void => {
    const { error, ...outcome } = cycle;
    const whole = { matched: [], reconciled: [], aborted: false, ...outcome };
    metrics.cycleEnded(policy, { tookMs: 20, outcome: whole, ...(error && { error }) });
  };
  return { registry, metrics, served, ended };
}

const matchedBy = (all: readonly ReconciledWorkload[]) => all.map(({ outcome }) => outcome.record);
const missing = { status: "Skipped", reason: "MetricsMissing" } as const;
const failure = { next: "leave", reason: "RBACError", message: "no" } as const;
const skipped = { status: "Skipped", reason: "Cooldown" } as const;
const unreadable = { status: "Error", reason: "UnreadableTemplate" } as const;

Deno.test("property 25: createRightsizingMetrics() serves what the cycles came to, and nothing of a policy that is gone", async () => {
  const { metrics, served, ended } = stage();
  const first = [
    reconciledAs("applied", { record: { status: "Applied" }, applied: "InPlace" }),
    reconciledAs("recreated", { record: { status: "Applied" }, applied: "Recreate" }),
    reconciledAs("held", { record: skipped }),
    reconciledAs("blind", { record: missing, recommends: false }),
    reconciledAs("denied", { record: { status: "Error", reason: "RBACError" }, failure }),
    reconciledAs("odd", { record: unreadable, recommends: false }),
    reconciledAs("only", { record: { status: "Recommended", reason: "RecommendOnly" } }),
  ];
  const later = reconciledAs("later", { record: { status: "Skipped", reason: "OfALaterVersion" } });
  ended({ matched: matchedBy([...first, later]), reconciled: first });
  ended({ matched: matchedBy([later]) }, BATCH);
  const counted = {
    recommendations_total: 5,
    'applications_total{method="InPlace"}': 1,
    'applications_total{method="Recreate"}': 1,
    'reconciliation_errors_total{error_type="MetricsMissing"}': 1,
    'reconciliation_errors_total{error_type="RBACError"}': 1,
    'reconciliation_errors_total{error_type="UnreadableTemplate"}': 1,
    reconciliation_duration_seconds_count: 1,
  };
  const gauges = {
    workloads_monitored: 8,
    workloads_updated: 2,
    'workloads_skipped{reason="Cooldown"}': 1,
    'workloads_skipped{reason="MetricsMissing"}': 1,
    'workloads_skipped{reason="RBACError"}': 1,
    'workloads_skipped{reason="UnreadableTemplate"}': 1,
    'workloads_skipped{reason="OtherVersion"}': 1,
    record_unwritten: 0,
  };
  assert.deepEqual(await served(), { ...counted, ...gauges });
  // An aborted cycle has seen a part: gauges stay, and no time is observed.
  ended({ matched: matchedBy([later]), reconciled: first.slice(0, 1), aborted: true });
  counted.recommendations_total = 6;
  counted['applications_total{method="InPlace"}'] = 2;
  assert.deepEqual(await served(), { ...counted, ...gauges });
  ended({ matched: matchedBy([later]) });
  counted.reconciliation_duration_seconds_count = 2;
  const one = { workloads_monitored: 1, workloads_updated: 0, record_unwritten: 0 };
  const only = { ...one, 'workloads_skipped{reason="OtherVersion"}': 1 };
  assert.deepEqual(await served(), { ...counted, ...only });
  metrics.policyGone(ALL);
  assert.deepEqual(await served(), {});
  const nothing = { recommendations_total: 0, reconciliation_duration_seconds_count: 1 };
  assert.deepEqual(await served(BATCH), { ...only, ...nothing });
});

Deno.test("createRightsizingMetrics() counts policies that can't be followed, and cycles that failed", async () => {
  const { metrics, served, ended } = stage();
  const problem = { reason: "ValidationFailed", message: "spec.mode" } as const;
  const unwritten = { reason: "RecordNotWritten", message: "no" } as const;
  const down = { reason: "ProviderUnavailable", message: "no" } as const;
  ended({ problem });
  ended({ unwritten, aborted: true });
  ended({ unwritten });
  assert.equal((await served())["record_unwritten"], 1);
  // Counted by its workloads.
  const [blind] = [reconciledAs("blind", { record: missing })];
  ended({ problem: down, reconciled: [blind], matched: matchedBy([blind]) });
  ended({ error: "StatusNotWritten" });
  metrics.cycleEnded(ALL, { tookMs: 1, error: "CycleFailed" });
  const found = Object.entries(await served())
    .flatMap(([series, value]) => value === 1 ? /error_type="(\w+)"/.exec(series)?.[1] ?? [] : []);
  assert.deepEqual(found.toSorted(), [
    ...["CycleFailed", "MetricsMissing", "RecordNotWritten", "StatusNotWritten"],
    "ValidationFailed",
  ]);
  // A failed cycle says nothing about workloads: what was known stays.
  assert.equal((await served())["workloads_monitored"], 0);
});

Deno.test("createRightsizingMetrics() observes sources in seconds, and counts templates that were applied", async () => {
  const { metrics, registry } = stage();
  for (const tookMs of [40, 2000]) metrics.collected("prometheus", tookMs);
  for (const outcome of ["accepted", "accepted", "conflict"]) {
    metrics.templatePatched({ kind: "Deployment", outcome });
  }
  // Neither is a policy's.
  metrics.policyGone(ALL);
  const text = await registry.metrics();
  const rows = [
    'optipod_metrics_collection_duration_seconds_sum{provider="prometheus"} 2.04',
    'optipod_metrics_collection_duration_seconds_bucket{le="0.025",provider="prometheus"} 0',
    'optipod_metrics_collection_duration_seconds_bucket{le="0.05",provider="prometheus"} 1',
    'optipod_ssa_patch_total{kind="Deployment",outcome="accepted"} 2',
    'optipod_ssa_patch_total{kind="Deployment",outcome="conflict"} 1',
  ];
  for (const line of rows) assert.ok(text.includes(`${line}\n`), line);
});
