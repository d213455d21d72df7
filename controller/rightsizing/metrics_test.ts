import fc from "fast-check";
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { ApiError } from "../../shared/api/api_error.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { rightsizingFacts } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { createRightsizingMetrics, observedWorkloads, type PolicyName } from "./metrics.ts";
import type { ReconcileOutcome } from "./outcome.ts";
import type { CycleOutcome, ReconciledWorkload } from "./policies/policy_cycle.ts";
import type { WorkloadWriter } from "./ports.ts";

const { workload } = rightsizingFacts();

function stage(failure?: Error) {
  const counted: string[] = [];
  const asked: unknown[] = [];
  const writer: WorkloadWriter = {
    recreate(...args) {
      asked.push(args);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
    annotate(...args) {
      asked.push(args);
      return Promise.resolve();
    },
  };
  const observed = observedWorkloads(writer, {
    templatePatched: ({ kind, outcome }) => void counted.push(`${kind} ${outcome}`),
  });
  return { observed, counted, asked };
}

const wanted = new Map();

Deno.test("observedWorkloads() asks the writer, and counts server-side apply alone", async () => {
  const { observed, counted, asked } = stage();
  await observed.recreate(workload, wanted, { serverSideApply: true });
  assert.deepEqual(counted, ["Deployment accepted"]);
  await observed.recreate(workload, wanted, { serverSideApply: false });
  const patch = { metadata: { annotations: { a: null } } };
  await observed.annotate(workload, patch);
  assert.equal(counted.length, 1);
  assert.deepEqual(asked, [
    [workload, wanted, { serverSideApply: true }],
    [workload, wanted, { serverSideApply: false }],
    [workload, patch],
  ]);
});

Deno.test("observedWorkloads() counts refusals by reason, and lets the error through", async () => {
  for (
    const [failure, reason] of [
      [new ApiError(403, "Forbidden", "no"), "refused"],
      [new ApiError(409, "Conflict", "old"), "conflict"],
      [new ApiError(404, "NotFound", "gone"), "gone"],
      [new ApiError(503, "", "later"), "busy"],
      [new TypeError("Cannot read it"), "failed"],
    ] as const
  ) {
    const { observed, counted } = stage(failure);
    const options = { serverSideApply: true };
    await assert.rejects(observed.recreate(workload, wanted, options), failure);
    assert.deepEqual(counted, [`Deployment ${reason}`]);
  }
});

/** What a cycle found of one workload. */
interface Found {
  readonly status: WorkloadRecord["status"];
  readonly reason: string;
  readonly advised: boolean;
  readonly reconciled: boolean;
  readonly missing: boolean;
  readonly failed: boolean;
  readonly applied?: "InPlace" | "Recreate" | undefined;
}

const found: fc.Arbitrary<Found> = fc.record({
  status: fc.constantFrom("Applied", "Recommended", "Skipped", "Error"),
  reason: fc.constantFrom("Cooldown", "BelowThreshold", "RBACError", "UnsafeMemoryDecrease"),
  advised: fc.boolean(),
  reconciled: fc.boolean(),
  missing: fc.boolean(),
  failed: fc.boolean(),
  applied: fc.constantFrom("InPlace", "Recreate", undefined),
});

const ADVICE = [{ container: "app", cpu: 100, memory: 1024, explanation: "P90" }];

function passOf(one: Found): ReconcileOutcome {
  const { status, reason, advised, missing, failed, applied } = one;
  return {
    record: {
      workload: { kind: "Deployment", namespace: "shop", name: "web" },
      policy: { namespace: "shop", name: "all" },
      status,
      reason,
      // Those of an earlier look stay.
      recommendations: ADVICE,
      inForce: [],
    },
    metricsMissing: missing,
    recommends: advised,
    difference: 0,
    events: [],
    ...(missing ? { missing: { reason: "MetricsMissing", message: "no" } } : {}),
    ...(failed ? { failure: { next: "leave", reason: "RBACError", message: "no" } } : {}),
    ...(applied === undefined ? {} : { applied }),
  };
}

function outcomeOf(all: readonly Found[], aborted = false): CycleOutcome {
  const reconciled = all.filter((one) => one.reconciled)
    .map((one): ReconciledWorkload => ({ workload, outcome: passOf(one) }));
  return { matched: all.map(passOf), reconciled, aborted };
}

/** Lines of a metric, `labels value`, without its name. */
async function lines(registry: Registry, name: string): Promise<readonly string[]> {
  const text = await registry.metrics();
  return text.split("\n").filter((line) => line.startsWith(`optipod_${name}{`))
    .map((line) => line.replace(/^[^{]*/, "")).sort();
}

type Step =
  | { readonly policy: PolicyName; readonly cycle: readonly Found[]; readonly aborted: boolean }
  | { readonly policy: PolicyName; readonly gone: true };

const policy: fc.Arbitrary<PolicyName> = fc.record({
  namespace: fc.constantFrom("shop", "platform"),
  name: fc.constantFrom("all", "batch"),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      policy,
      cycle: fc.array(found, { maxLength: 8 }),
      aborted: fc.nat(4).map((one) => one === 0),
    }),
  },
  fc.record({ policy, gone: fc.constant(true as const) }),
);

/** What has to be served of one policy after its cycles. */
class Expected {
  /** Of the last cycle that was not called off. */
  last: readonly Found[] | undefined;
  cycles = 0;
  readonly counts = new Map<string, number>();
  add(key: string, by = 1): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + by);
  }
}

function learn(
  expected: Expected,
  { cycle, aborted }: Extract<Step, { readonly cycle: unknown }>,
): void {
  if (!aborted) {
    expected.last = cycle;
    expected.cycles++;
  }
  const reconciled = cycle.filter((one) => one.reconciled);
  expected.add(
    "recommendations_total ",
    reconciled.filter((one) => one.advised).length,
  );
  for (const one of reconciled) {
    if (one.applied !== undefined) expected.add(`applications_total method=${one.applied}`);
    const reason = one.missing
      ? "MetricsMissing"
      : one.failed
      ? "RBACError"
      : one.status === "Error"
      ? one.reason
      : undefined;
    if (reason !== undefined) expected.add(`reconciliation_errors_total error_type=${reason}`);
  }
}

function expectedLines(all: ReadonlyMap<string, Expected>, name: string): readonly string[] {
  const found: string[] = [];
  for (const [key, { last, cycles, counts }] of all) {
    const [namespace, policy] = key.split("/");
    const labels = `namespace="${namespace}",policy="${policy}"`;
    const put = (more: string, value: number) => found.push(`{${labels}${more}} ${value}`);
    const held = (last ?? []).filter(({ status }) => status === "Skipped" || status === "Error");
    if (name === "workloads_monitored" && last !== undefined) put("", last.length);
    if (name === "workloads_updated" && last !== undefined) {
      put("", last.filter(({ status }) => status === "Applied").length);
    }
    if (name === "workloads_skipped") {
      for (const reason of new Set(held.map((one) => one.reason))) {
        put(`,reason="${reason}"`, held.filter((one) => one.reason === reason).length);
      }
    }
    if (name === "reconciliation_duration_seconds_count" && cycles > 0) put("", cycles);
    for (const [what, count] of counts) {
      const [counter, reason = ""] = what.split(" ");
      const [label, value] = reason.split("=");
      if (counter === name) put(reason === "" ? "" : `,${label}="${value}"`, count);
    }
  }
  return found.sort();
}

Deno.test({
  name:
    "property 25: createRightsizingMetrics() serves what the cycles came to, and nothing of a policy that is gone",
  async fn() {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const registry = new Registry();
        const metrics = createRightsizingMetrics(registry);
        const expected = new Map<string, Expected>();
        for (const one of steps) {
          const key = `${one.policy.namespace}/${one.policy.name}`;
          if ("gone" in one) {
            metrics.policyGone(one.policy);
            expected.delete(key);
            continue;
          }
          const outcome = outcomeOf(one.cycle, one.aborted);
          metrics.cycleEnded(one.policy, { tookMs: 20, outcome });
          const learned = expected.get(key) ?? new Expected();
          expected.set(key, learned);
          learn(learned, one);
        }
        for (
          const name of [
            "workloads_monitored",
            "workloads_updated",
            "workloads_skipped",
            "recommendations_total",
            "applications_total",
            "reconciliation_errors_total",
            "reconciliation_duration_seconds_count",
          ]
        ) assert.deepEqual(await lines(registry, name), expectedLines(expected, name), name);
      }),
    );
  },
});

const OF_A_LATER_VERSION: Found = {
  status: "Skipped",
  reason: "AReasonOfALaterVersion",
  advised: false,
  reconciled: false,
  missing: false,
  failed: false,
};

const POLICY = { namespace: "shop", name: "all" };

Deno.test("createRightsizingMetrics() counts policies that can't be followed, and cycles that failed", async () => {
  const registry = new Registry();
  const metrics = createRightsizingMetrics(registry);
  const problem = { reason: "ValidationFailed", message: "spec.mode" } as const;
  metrics.cycleEnded(POLICY, { tookMs: 1, outcome: { ...outcomeOf([]), problem } });
  metrics.cycleEnded(POLICY, { tookMs: 1, error: "CycleFailed" });
  metrics.cycleEnded(POLICY, { tookMs: 1, outcome: outcomeOf([]), error: "StatusNotWritten" });
  assert.deepEqual(await lines(registry, "reconciliation_errors_total"), [
    '{namespace="shop",policy="all",error_type="CycleFailed"} 1',
    '{namespace="shop",policy="all",error_type="StatusNotWritten"} 1',
    '{namespace="shop",policy="all",error_type="ValidationFailed"} 1',
  ]);
  metrics.cycleEnded(POLICY, { tookMs: 1, outcome: outcomeOf([OF_A_LATER_VERSION]) });
  assert.deepEqual(await lines(registry, "workloads_skipped"), [
    '{namespace="shop",policy="all",reason="OtherVersion"} 1',
  ]);
  metrics.cycleEnded(POLICY, { tookMs: 1, error: "CycleFailed" });
  // A failed cycle says nothing about workloads: what was known stays.
  assert.deepEqual(await lines(registry, "workloads_monitored"), [
    '{namespace="shop",policy="all"} 1',
  ]);
});

Deno.test("createRightsizingMetrics() counts workloads that can't be read among the others", async () => {
  const registry = new Registry();
  const metrics = createRightsizingMetrics(registry);
  const unreadable: Found = {
    status: "Error",
    reason: "UnreadableTemplate",
    advised: false,
    reconciled: true,
    missing: false,
    failed: false,
  };
  metrics.cycleEnded(POLICY, { tookMs: 1, outcome: outcomeOf([unreadable]) });
  const series = '{namespace="shop",policy="all"';
  assert.deepEqual(await lines(registry, "workloads_monitored"), [`${series}} 1`]);
  assert.deepEqual(await lines(registry, "recommendations_total"), [`${series}} 0`]);
  assert.deepEqual(await lines(registry, "workloads_skipped"), [
    `${series},reason="UnreadableTemplate"} 1`,
  ]);
  assert.deepEqual(await lines(registry, "reconciliation_errors_total"), [
    `${series},error_type="UnreadableTemplate"} 1`,
  ]);
});

Deno.test("createRightsizingMetrics() observes sources in seconds, and counts templates that were applied", async () => {
  const registry = new Registry();
  const metrics = createRightsizingMetrics(registry);
  metrics.collected("prometheus", 40);
  metrics.collected("prometheus", 2000);
  metrics.templatePatched({ kind: "Deployment", outcome: "accepted" });
  metrics.templatePatched({ kind: "Deployment", outcome: "accepted" });
  metrics.templatePatched({ kind: "StatefulSet", outcome: "conflict" });
  // Neither is a policy's.
  metrics.policyGone(POLICY);
  const name = "metrics_collection_duration_seconds";
  assert.deepEqual(await lines(registry, `${name}_sum`), ['{provider="prometheus"} 2.04']);
  const buckets = await lines(registry, `${name}_bucket`);
  assert.ok(buckets.includes('{le="0.025",provider="prometheus"} 0'));
  assert.ok(buckets.includes('{le="0.05",provider="prometheus"} 1'));
  assert.deepEqual(await lines(registry, "ssa_patch_total"), [
    '{kind="Deployment",outcome="accepted"} 2',
    '{kind="StatefulSet",outcome="conflict"} 1',
  ]);
});
