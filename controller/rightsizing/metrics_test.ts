import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { ApiError } from "../../shared/api/api_error.ts";
import { reconciledAs } from "../../tests/fixtures/rightsizing_outcomes.ts";
import { rightsizingFacts } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { createRightsizingMetrics, type EndedCycle, observedWorkloads } from "./metrics.ts";
import type { ReconciledWorkload } from "./policies/policy_cycle.ts";

Deno.test("observedWorkloads() asks the writer, and counts server-side apply by the answer", async () => {
  const { workload } = rightsizingFacts();
  const wanted = new Map();
  const counted: string[] = [];
  const asked: unknown[] = [];
  let failure: Error | undefined;
  const write = (...args: unknown[]): Promise<void> => {
    asked.push(args);
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  };
  const observed = observedWorkloads({ recreate: write, annotate: write }, {
    templatePatched: ({ kind, outcome }) => void counted.push(`${kind} ${outcome}`),
  });
  await observed.recreate(workload, wanted, { serverSideApply: true });
  await observed.recreate(workload, wanted, { serverSideApply: false });
  const patch = { metadata: { annotations: { a: null } } };
  await observed.annotate(workload, patch);
  assert.deepEqual(counted, ["Deployment accepted"]);
  assert.deepEqual(asked, [
    [workload, wanted, { serverSideApply: true }],
    [workload, wanted, { serverSideApply: false }],
    [workload, patch],
  ]);
  for (
    const [error, outcome] of [
      [new ApiError(403, "Forbidden", "no"), "refused"],
      [new ApiError(409, "Conflict", "old"), "conflict"],
      [new ApiError(404, "NotFound", "gone"), "gone"],
      [new ApiError(503, "", "later"), "busy"],
      [new TypeError("Cannot read it"), "failed"],
    ] as const
  ) {
    failure = error;
    await assert.rejects(observed.recreate(workload, wanted, { serverSideApply: true }), error);
    assert.equal(counted.at(-1), `Deployment ${outcome}`);
  }
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

const matchedBy = (all: readonly ReconciledWorkload[]) => all.map(({ outcome }) => outcome);
const missing = { reason: "MetricsMissing", message: "no" } as const;
const failure = { next: "leave", reason: "RBACError", message: "no" } as const;
const skipped = { status: "Skipped", reason: "Cooldown" } as const;

Deno.test("property 25: createRightsizingMetrics() serves what the cycles came to, and nothing of a policy that is gone", async () => {
  const { metrics, served, ended } = stage();
  const first = [
    reconciledAs("applied", { record: { status: "Applied" }, applied: "InPlace" }),
    reconciledAs("recreated", { record: { status: "Applied" }, applied: "Recreate" }),
    reconciledAs("held", { record: skipped }),
    reconciledAs("blind", { record: skipped, missing, recommends: false }),
    reconciledAs("denied", { record: { status: "Error", reason: "RBACError" }, failure }),
    reconciledAs("odd", {
      record: { status: "Error", reason: "UnreadableTemplate" },
      recommends: false,
    }),
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
    'workloads_skipped{reason="Cooldown"}': 2,
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
  assert.deepEqual(await served(BATCH), {
    ...only,
    recommendations_total: 0,
    reconciliation_duration_seconds_count: 1,
  });
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
  const [blind] = [reconciledAs("blind", { record: skipped, missing })];
  ended({ problem: down, reconciled: [blind], matched: matchedBy([blind]) });
  ended({ error: "StatusNotWritten" });
  metrics.cycleEnded(ALL, { tookMs: 1, error: "CycleFailed" });
  const found = Object.entries(await served()).filter(([series]) => series.includes("error_type"));
  assert.deepEqual(
    found.map(([series, value]) => [/"(\w+)"/.exec(series)?.[1], value]).toSorted(),
    [
      ["CycleFailed", 1],
      ["MetricsMissing", 1],
      ["RecordNotWritten", 1],
      ["StatusNotWritten", 1],
      ["ValidationFailed", 1],
    ],
  );
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
  for (
    const line of [
      'optipod_metrics_collection_duration_seconds_sum{provider="prometheus"} 2.04',
      'optipod_metrics_collection_duration_seconds_bucket{le="0.025",provider="prometheus"} 0',
      'optipod_metrics_collection_duration_seconds_bucket{le="0.05",provider="prometheus"} 1',
      'optipod_ssa_patch_total{kind="Deployment",outcome="accepted"} 2',
      'optipod_ssa_patch_total{kind="Deployment",outcome="conflict"} 1',
    ]
  ) assert.ok(text.includes(`${line}\n`), line);
});
