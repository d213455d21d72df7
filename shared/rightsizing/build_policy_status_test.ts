import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { largeRecord, workloadRecords } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { type PolicyStatus, policyStatusSchema, storedPolicyStatus } from "../api/policy_status.ts";
import {
  buildPolicyStatus,
  type PolicyCycle,
  type PolicyWorkload,
  samplesNote,
  scopeNote,
  validationProblem,
} from "./build_policy_status.ts";
import { type PolicySelector, readPolicySpec } from "./policy_spec.ts";
import { UsageRing } from "./usage_ring.ts";
import type { WorkloadRecord } from "./workload_record.ts";

pure("scopeNote() reports namespaces that a policy may not reach, and that nothing matches", () => {
  const noted = (selector: Partial<PolicySelector>, matched = 3, policyNamespaces: string[] = []) =>
    scopeNote({ workloadKinds: ["Deployment"], ...selector }, {
      policyNamespace: "shop",
      policyNamespaces,
      matched,
    });
  const namespaceSelector = { matchLabels: { team: "a" }, matchExpressions: [] };
  const namespaces = { allow: ["shop", "b", "c"], deny: [] };
  assert.equal(noted({}), undefined);
  assert.equal(noted({ namespaces: { allow: ["shop"], deny: ["other"] } }), undefined);
  assert.equal(noted({ namespaces, namespaceSelector }, 3, ["shop"]), undefined);
  assert.match(noted({ namespaces }) ?? "", /selector .* b, c; .*shop .*policyNamespaces/);
  assert.match(noted({ namespaceSelector }) ?? "", /namespaceSelector; .*policyNamespaces/);
  assert.match(noted({}, 0) ?? "", /no workload; .*shop .*policyNamespaces/);
  assert.match(noted({}, 0, ["shop"]) ?? "", /no workload$/);
});

const MINUTE_MS = 60_000;

pure("samplesNote() reports 5 min read every 30 s, which do not hold 10 samples", () => {
  const defaults = { intervalMs: 30_000, size: 16 };
  const spec = { provider: "metrics-server", windowMs: 5 * MINUTE_MS, minSamples: 10 } as const;
  assert.match(samplesNote(spec, defaults) ?? "", / 5m .* 8 .* 30s, .* 10: /);
  assert.equal(samplesNote({ ...spec, minSamples: 8 }, defaults), undefined);
  assert.equal(samplesNote(spec, { ...defaults, intervalMs: 20_000 }), undefined);
  assert.equal(samplesNote({ ...spec, windowMs: 24 * 60 * MINUTE_MS }, defaults), undefined);
  assert.equal(samplesNote({ ...spec, provider: "prometheus" }, defaults), undefined);
});

pure("samplesNote() is silent only where a pod has enough samples", () => {
  let silent = 0;
  const drawn = fc.record({
    windowMs: fc.integer({ min: 1000, max: 20 * MINUTE_MS }),
    intervalMs: fc.integer({ min: 5000, max: MINUTE_MS }),
    minSamples: fc.integer({ min: 1, max: 60 }),
    size: fc.constantFrom(4, 16, 64),
    phase: fc.double({ min: 0, max: 1, noNaN: true }),
    late: fc.nat(100),
  });
  fc.assert(fc.property(drawn, ({ windowMs, intervalMs, minSamples, size, phase, late }) => {
    const policy = { provider: "metrics-server", windowMs, minSamples } as const;
    if (samplesNote(policy, { intervalMs, size }) !== undefined) return;
    silent++;
    const nowMs = 1e12;
    const ring = new UsageRing("cpu", { windowMs, slots: size });
    for (let back = Math.ceil(2 * windowMs / intervalMs); back >= 0; back--) {
      if (back === late) continue;
      ring.add({ atMs: nowMs - (back + phase) * intervalMs, value: 1 }, nowMs);
    }
    const have = ring.distribution({ nowMs, windowMs }).count;
    assert.ok(have >= minSamples, `${have} of ${minSamples}`);
  }));
  assert.ok(silent > 20, `${silent}`);
});

const NOON = Date.UTC(2026, 0, 1, 12);
const LATER = NOON + 300_000;

function workload(
  name: string,
  change: Partial<WorkloadRecord> & { difference?: number; metricsMissing?: boolean } = {},
): PolicyWorkload {
  const { difference = 0, metricsMissing = false, ...record } = change;
  const blank = largeRecord(name, { containers: 1, explanation: 10 });
  return { record: { ...blank, ...record }, difference, metricsMissing };
}

function build(change: Partial<PolicyCycle> = {}): PolicyStatus {
  return buildPolicyStatus({ nowMs: NOON, generation: 3, before: {}, dryRun: false, ...change });
}

/** `Ready: True PolicyValid 12:00`: status, reason and time of each condition. */
function conditions({ conditions = [] }: PolicyStatus): readonly string[] {
  return conditions.map(({ type, status, reason, lastTransitionTime }) =>
    `${type}: ${status} ${reason} ${lastTransitionTime.slice(11, 16)}`
  );
}

function message({ conditions = [] }: PolicyStatus, wanted: string): string {
  return conditions.find(({ type }) => type === wanted)?.message ?? "";
}

pure("buildPolicyStatus() counts workloads by kind, and those that came to an end", () => {
  const daemon = { kind: "DaemonSet", namespace: "shop", name: "log" } as const;
  const { conditions: _conditions, workloads: _workloads, ...counts } = build({
    workloads: [
      workload("web"),
      workload("db", { status: "Error", reason: "Refused" }),
      workload("log", { workload: daemon, status: "Skipped" }),
    ],
  });
  assert.deepEqual(counts, {
    workloadsDiscovered: 3,
    workloadsProcessed: 2,
    workloadsByType: { deployments: 2, statefulSets: 0, daemonSets: 1 },
    lastReconciliation: "2026-01-01T12:00:00.000Z",
    observedGeneration: 3,
  });
});

pure("buildPolicyStatus() has a condition of each type, dated by its last change of status", () => {
  const { faults } = readPolicySpec({ mode: "Sometimes" });
  const invalid = build({ problem: validationProblem(faults) });
  assert.deepEqual(conditions(invalid), [
    "Ready: False ValidationFailed 12:00",
    "DryRun: False Live 12:00",
  ]);
  assert.match(message(invalid, "Ready"), /^spec\.mode .*Sometimes.*; spec\.selector /);
  const noted = build({ workloads: [], notes: ["no workload", "few"] });
  assert.match(message(noted, "Ready"), /; no workload; few$/);
  assert.deepEqual(conditions(noted), [
    "Ready: True PolicyValid 12:00",
    "MetricsMissing: False MetricsPresent 12:00",
    "DryRun: False Live 12:00",
  ]);
  const second = build({ before: noted, nowMs: LATER, dryRun: true, workloads: [] });
  assert.deepEqual(conditions(second), [
    "Ready: True PolicyValid 12:00",
    "MetricsMissing: False MetricsPresent 12:00",
    "DryRun: True DryRun 12:05",
  ]);
});

pure("buildPolicyStatus() keeps what it had where no workload was looked at", () => {
  const before = build({ workloads: [workload("web", { metricsMissing: true })] });
  const problem = { reason: "ProviderUnavailable", message: "prometheus does not answer" } as const;
  const status = build({ before, problem, nowMs: LATER, generation: 4 });
  const { conditions: _now, observedGeneration, ...rest } = status;
  const { conditions: _then, observedGeneration: _before, ...kept } = before;
  assert.deepEqual([rest, observedGeneration], [kept, 4]);
  assert.deepEqual(conditions(status), [
    "Ready: False ProviderUnavailable 12:05",
    "MetricsMissing: True MetricsMissing 12:00",
    "DryRun: False Live 12:00",
  ]);
  assert.equal(message(status, "Ready"), problem.message);
});

pure("buildPolicyStatus() has of how many workloads metrics are missing, and names some", () => {
  const workloads = Array.from(
    { length: 8 },
    (_, index) => workload(`w${index}`, { metricsMissing: index > 0 }),
  );
  const missing = message(build({ workloads }), "MetricsMissing");
  assert.match(missing, /^7 of 8 .*shop\/Deployment\/w1, .*\/w2, .*\/w3, .*\/w4, .*\/w5 .*2/);
});

pure("buildPolicyStatus() puts errors first, then what was skipped, then large differences", () => {
  const { workloads = [] } = build({
    workloads: [
      workload("small", { difference: 0.1 }),
      workload("unset", { difference: Infinity }),
      workload("large", { difference: 3, status: "Applied" }),
      workload("skipped", { status: "Skipped", difference: 9 }),
      workload("failed-b", { status: "Error" }),
      workload("failed-a", { status: "Error" }),
      workload("unset-too", { difference: Infinity }),
    ],
  });
  const names = workloads.map(({ name }) => name).join(" ");
  assert.equal(names, "failed-a failed-b skipped unset unset-too large small");
});

pure("buildPolicyStatus() keeps the worst hundred workloads", () => {
  const workloads = Array.from({ length: 500 }, (_, index) => ({
    ...workload("", { difference: index }),
    record: largeRecord(`w${index}`, { containers: 200, explanation: 4000 }),
  }));
  const status = build({ workloads });
  assert.deepEqual([status.workloads?.length, status.workloads?.[0]?.name], [100, "w499"]);
  assert.equal(status.workloadsDiscovered, 500);
  assert.ok(JSON.stringify(status).length < 1_000_000);
  assert.equal(policyStatusSchema.safeParse(status).success, true);
  const slim = build({
    workloads: Array.from({ length: 100 }, (_, index) => workload(`w${index}`)),
  });
  assert.ok(slim.workloads?.every((one) => one.recommendations.length === 1));
});

pure("property 31: buildPolicyStatus() is valid, and read back unchanged", () => {
  const fact = fc.record({
    difference: fc.double({ min: 0, noNaN: true }),
    metricsMissing: fc.boolean(),
  });
  const facts = fc.array(fact, { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(workloadRecords("shop"), facts, fc.boolean(), (records, drawn, dryRun) => {
      const workloads = records.map((record, index) => ({ record, ...drawn[index]! }));
      const status = build({ workloads, dryRun });
      assert.deepEqual(policyStatusSchema.parse(status), status);
      assert.deepEqual(storedPolicyStatus(JSON.parse(JSON.stringify(status))), status);
      assert.equal(status.workloads?.length, records.length);
      // The order that the workloads came in is of no matter.
      assert.deepEqual(build({ workloads: workloads.toReversed(), dryRun }), status);
    }),
  );
});
