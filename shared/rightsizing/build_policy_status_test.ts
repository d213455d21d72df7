import fc from "fast-check";
import assert from "node:assert/strict";
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
import { createUsageRing } from "./usage_ring.ts";
import type { WorkloadRecord } from "./workload_record.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function noteOf(
  selector: Partial<PolicySelector>,
  { matched = 3, policyNamespaces = [] }: {
    readonly matched?: number;
    readonly policyNamespaces?: readonly string[];
  } = {},
): string | undefined {
  const whole = { workloadKinds: ["Deployment"], ...selector } as const;
  return scopeNote(whole, { policyNamespace: "shop", policyNamespaces, matched });
}

const namespaceSelector = { matchLabels: { team: "a" }, matchExpressions: [] };

test("scopeNote() names the namespaces that a policy may not reach", () => {
  assert.equal(noteOf({}), undefined);
  assert.equal(noteOf({ namespaces: { allow: ["shop"], deny: ["other"] } }), undefined);
  const namespaces = { allow: ["shop", "b", "c"], deny: [] };
  assert.match(noteOf({ namespaces }) ?? "", /selector .* b, c; .*shop .*policyNamespaces/);
  assert.match(noteOf({ namespaceSelector }) ?? "", /namespaceSelector; .*shop .*policyNamespaces/);
  const many = { allow: ["a", "b", "c", "d", "e", "f", "g"], deny: [] };
  assert.match(noteOf({ namespaces: many }) ?? "", / a, b, c, d, e and 2 more;/);
  const policyNamespaces = ["shop"];
  assert.equal(noteOf({ namespaces, namespaceSelector }, { policyNamespaces }), undefined);
});

test("scopeNote() says that nothing matches, and that a policy's reach may be why", () => {
  assert.match(noteOf({}, { matched: 0 }) ?? "", /no workload; .*shop .*policyNamespaces/);
  assert.match(noteOf({}, { matched: 0, policyNamespaces: ["shop"] }) ?? "", /no workload$/);
});

const MINUTE_MS = 60_000;
const DEFAULTS = { intervalMs: 30_000, size: 16 };
const SPEC = { provider: "metrics-server", windowMs: 5 * MINUTE_MS, minSamples: 10 } as const;

test("samplesNote() says that 5 min read every 30 s do not hold 10 samples", () => {
  assert.match(samplesNote(SPEC, DEFAULTS) ?? "", / 5m .* 8 .* 30s, .* 10: .*samplerInterval/);
  assert.equal(samplesNote({ ...SPEC, minSamples: 8 }, DEFAULTS), undefined);
  assert.equal(samplesNote(SPEC, { ...DEFAULTS, intervalMs: 20_000 }), undefined);
  assert.equal(samplesNote({ ...SPEC, windowMs: 24 * 60 * MINUTE_MS }, DEFAULTS), undefined);
  assert.equal(samplesNote({ ...SPEC, provider: "prometheus" }, DEFAULTS), undefined);
});

test("samplesNote() is silent only where each look at one pod has enough, one reading late or not", () => {
  let silent = 0;
  fc.assert(
    fc.property(
      fc.record({
        windowMs: fc.integer({ min: 1000, max: 20 * MINUTE_MS }),
        intervalMs: fc.integer({ min: 5000, max: MINUTE_MS }),
        minSamples: fc.integer({ min: 1, max: 60 }),
        size: fc.constantFrom(4, 16, 64),
        phase: fc.double({ min: 0, max: 1, noNaN: true }),
        late: fc.nat(100),
      }),
      ({ windowMs, intervalMs, minSamples, size, phase, late }) => {
        const policy = { provider: "metrics-server", windowMs, minSamples } as const;
        if (samplesNote(policy, { intervalMs, size }) !== undefined) return;
        silent++;
        const nowMs = 1e12;
        const ring = createUsageRing("cpu", { windowMs, slots: size });
        const count = Math.ceil(2 * windowMs / intervalMs);
        for (let back = count; back >= 0; back--) {
          if (back === late) continue;
          ring.add({ atMs: nowMs - (back + phase) * intervalMs, value: 1 }, nowMs);
        }
        const have = ring.distribution({ nowMs, windowMs }).count;
        assert.ok(have >= minSamples, `${have} of ${minSamples}`);
      },
    ),
  );
  assert.ok(silent > 20, `${silent}`);
});

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

/** `type: status reason` of each condition. */
function conditions({ conditions = [] }: PolicyStatus): readonly string[] {
  return conditions.map(({ type, status, reason }) => `${type}: ${status} ${reason}`);
}

function message({ conditions = [] }: PolicyStatus, wanted: string): string | undefined {
  return conditions.find(({ type }) => type === wanted)?.message;
}

pure("buildPolicyStatus() counts workloads by kind, and those that came to an end", () => {
  const daemon = { kind: "DaemonSet", namespace: "shop", name: "log" } as const;
  const status = build({
    workloads: [
      workload("web"),
      workload("db", { status: "Error", reason: "Refused" }),
      workload("log", { workload: daemon, status: "Skipped" }),
    ],
  });
  assert.equal(status.workloadsDiscovered, 3);
  assert.equal(status.workloadsProcessed, 2);
  assert.deepEqual(status.workloadsByType, { deployments: 2, statefulSets: 0, daemonSets: 1 });
  assert.equal(status.lastReconciliation, "2026-01-01T12:00:00.000Z");
  assert.equal(status.observedGeneration, 3);
  assert.deepEqual(conditions(status), [
    "Ready: True PolicyValid",
    "MetricsMissing: False MetricsPresent",
    "DryRun: False Live",
  ]);
});

pure("buildPolicyStatus() names the field of a policy that can't be read", () => {
  const { faults } = readPolicySpec({ mode: "Sometimes" });
  const status = build({ problem: validationProblem(faults) });
  assert.deepEqual(conditions(status), ["Ready: False ValidationFailed", "DryRun: False Live"]);
  assert.match(message(status, "Ready") ?? "", /^spec\.mode .*Sometimes.*; spec\.selector /);
});

pure("buildPolicyStatus() has notes beside the validity", () => {
  const status = build({ workloads: [], notes: ["no workload", "few"] });
  assert.match(message(status, "Ready") ?? "", /; no workload; few$/);
  assert.equal(conditions(status)[0], "Ready: True PolicyValid");
});

pure("buildPolicyStatus() keeps what it had where no workload was looked at", () => {
  const before = build({ workloads: [workload("web", { metricsMissing: true })] });
  const problem = { reason: "ProviderUnavailable", message: "prometheus does not answer" } as const;
  const status = build({ before, problem, nowMs: LATER, generation: 4 });
  assert.deepEqual(status.workloads, before.workloads);
  assert.equal(status.lastReconciliation, before.lastReconciliation);
  assert.equal(status.workloadsDiscovered, 1);
  assert.deepEqual(conditions(status), [
    "Ready: False ProviderUnavailable",
    "MetricsMissing: True MetricsMissing",
    "DryRun: False Live",
  ]);
  assert.equal(message(status, "Ready"), problem.message);
});

pure("buildPolicyStatus() dates a condition by its last change of status", () => {
  const times = (status: PolicyStatus): readonly string[] =>
    (status.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime.slice(11, 16));
  const first = build({ workloads: [workload("web")] });
  assert.deepEqual(times(first), ["12:00", "12:00", "12:00"]);
  const second = build({ before: first, nowMs: LATER, dryRun: true, workloads: [] });
  assert.deepEqual(times(second), ["12:00", "12:00", "12:05"]);
  assert.equal(second.conditions?.[2]?.reason, "DryRun");
});

pure("buildPolicyStatus() says of how many workloads metrics are missing, and names some", () => {
  const workloads = Array.from(
    { length: 8 },
    (_, index) => workload(`w${index}`, { metricsMissing: index > 0 }),
  );
  assert.match(
    message(build({ workloads }), "MetricsMissing") ?? "",
    /^7 of 8 .*shop\/Deployment\/w1, .*\/w2, .*\/w3, .*\/w4, .*\/w5 .*2/,
  );
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
  assert.deepEqual(workloads.map(({ name }) => name), [
    "failed-a",
    "failed-b",
    "skipped",
    "unset",
    "unset-too",
    "large",
    "small",
  ]);
});

pure(
  "buildPolicyStatus() keeps the worst hundred, and their recommendations as far as they fit",
  () => {
    const workloads = Array.from({ length: 500 }, (_, index) => ({
      ...workload("", { difference: index }),
      record: largeRecord(`w${index}`, { containers: 200, explanation: 4000 }),
    }));
    const status = build({ workloads });
    assert.equal(status.workloads?.length, 100);
    assert.equal(status.workloads?.[0]?.name, "w499");
    assert.equal(status.workloadsDiscovered, 500);
    assert.ok(JSON.stringify(status).length < 1_000_000);
    assert.equal(policyStatusSchema.safeParse(status).success, true);
    const slim = Array.from({ length: 100 }, (_, index) => workload(`w${index}`));
    assert.ok(
      build({ workloads: slim }).workloads?.every((one) => one.recommendations.length === 1),
    );
  },
);

pure(
  "property 31: buildPolicyStatus() writes what the schema takes, and what is read back unchanged",
  () => {
    fc.assert(
      fc.property(
        workloadRecords("shop"),
        fc.array(
          fc.record({
            difference: fc.double({ min: 0, noNaN: true }),
            metricsMissing: fc.boolean(),
          }),
          {
            minLength: 30,
            maxLength: 30,
          },
        ),
        fc.boolean(),
        (records, facts, dryRun) => {
          const workloads = records.map((record, index) => ({
            record,
            difference: facts[index]?.difference ?? 0,
            metricsMissing: facts[index]?.metricsMissing === true,
          }));
          const status = build({ workloads, dryRun });
          assert.deepEqual(policyStatusSchema.parse(status), status);
          assert.deepEqual(storedPolicyStatus(JSON.parse(JSON.stringify(status))), status);
          assert.equal(status.workloads?.length, records.length);
          // The order that the workloads came in is of no matter.
          assert.deepEqual(build({ workloads: workloads.toReversed(), dryRun }), status);
        },
      ),
    );
  },
);
