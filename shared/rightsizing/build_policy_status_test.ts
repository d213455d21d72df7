import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { largeRecord, workloadRecords } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { type PolicyStatus, policyStatusSchema } from "../api/policy_status.ts";
import { recommendationReportSchema } from "../api/recommendation_report.ts";
import {
  buildPolicyStatus,
  type PolicyCycle,
  samplesNote,
  scopeNote,
  validationProblem,
} from "./build_policy_status.ts";
import { type PolicySelector, readPolicySpec } from "./policy_spec.ts";
import {
  isReportName,
  mergeRecords,
  recordsOf,
  type RecordVersions,
  reportParts,
} from "./reports.ts";
import { UsageRing } from "./usage_ring.ts";
import type { WorkloadRecord } from "./workload_record.ts";

pure("scopeNote() reports namespaces that a policy may not reach, and that nothing matches", () => {
  const noted = (selector: Partial<PolicySelector>, matched = 3, policyNamespaces: string[] = []) =>
    scopeNote({ workloadKinds: ["Deployment"], ...selector }, {
      ...{ policyNamespace: "shop", policyNamespaces, matched },
    });
  const namespaceSelector = { matchLabels: { team: "a" }, matchExpressions: [] };
  const namespaces = { allow: ["shop", "b", "c"], deny: [] };
  const own = { namespaces: { allow: ["shop"], deny: ["other"] } };
  assert.deepEqual([noted({}), noted(own)], [undefined, undefined]);
  assert.equal(noted({ namespaces, namespaceSelector }, 3, ["shop"]), undefined);
  assert.ok(noted({ namespaces }) !== undefined && noted({ namespaceSelector }) !== undefined);
  assert.match(noted({}, 0, ["shop"]) ?? "", /no workload$/);
});

const MINUTE_MS = 60_000;

pure("samplesNote() reports 5 min read every 30 s, which do not hold 10 samples", () => {
  const short = { provider: "metrics-server", windowMs: 5 * MINUTE_MS, minSamples: 10 } as const;
  const isNoted = (change: Partial<Parameters<typeof samplesNote>[0]>, intervalMs = 30_000) =>
    samplesNote({ ...short, ...change }, { intervalMs, size: 16 }) !== undefined;
  assert.ok(isNoted({}) && !isNoted({ minSamples: 8 }) && !isNoted({}, 20_000));
  assert.ok(!isNoted({ windowMs: 24 * 60 * MINUTE_MS }) && !isNoted({ provider: "prometheus" }));
});

const count = { silent: 0 };

forAll("samplesNote() is silent only where a pod has enough samples", [fc.record({
  windowMs: fc.integer({ min: 1000, max: 20 * MINUTE_MS }),
  intervalMs: fc.integer({ min: 5000, max: MINUTE_MS }),
  minSamples: fc.integer({ min: 1, max: 60 }),
  size: fc.constantFrom(4, 16, 64),
  phase: fc.double({ min: 0, max: 1, noNaN: true }),
  late: fc.nat(100),
})], ({ windowMs, intervalMs, minSamples, size, phase, late }) => {
  const policy = { provider: "metrics-server", windowMs, minSamples } as const;
  if (samplesNote(policy, { intervalMs, size }) !== undefined) return;
  count.silent++;
  const nowMs = 1e12;
  const ring = new UsageRing("cpu", { windowMs, slots: size });
  for (let back = Math.ceil(2 * windowMs / intervalMs); back >= 0; back--) {
    if (back === late) continue;
    ring.add({ atMs: nowMs - (back + phase) * intervalMs, value: 1 }, nowMs);
  }
  const have = ring.distribution({ nowMs, windowMs }).count;
  assert.ok(have >= minSamples, `${have} of ${minSamples}`);
}, 1);

pure("samplesNote() was silent often enough", () => assert.ok(count.silent > 20));

const NOON = Date.UTC(2026, 0, 1, 12);
const LATER = NOON + 300_000;

function workload(name: string, change: Partial<WorkloadRecord> = {}): WorkloadRecord {
  return { ...largeRecord(name, { containers: 1, explanation: 10 }), ...change };
}

/** CPU that is in force for its container, where 250m are recommended, and memory of its template. */
const having = (cpu: number | undefined, memory = 88_617_123): Partial<WorkloadRecord> => ({
  inForce: [{ container: "container-0", ...(cpu !== undefined && { cpu }) }],
  template: [{ container: "container-0", memory }],
});

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
  const before = build({ workloads: [workload("web", { reason: "ProviderUnavailable" })] });
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

pure("buildPolicyStatus() puts errors first, then what was skipped, then large differences", () => {
  const { workloads = [] } = build({
    workloads: [
      workload("small", having(240)),
      workload("unset", having(undefined)),
      workload("large", { ...having(1000), status: "Applied" }),
      workload("huge", having(250, 10_000_000)),
      workload("none", { ...having(1), recommendations: [] }),
      workload("skipped", { ...having(1), status: "Skipped" }),
      workload("failed-b", { status: "Error" }),
      workload("failed-a", { status: "Error" }),
      workload("unset-too", having(undefined)),
    ],
  });
  assert.deepEqual(workloads.map(({ name }) => name), [
    ...["failed-a", "failed-b", "skipped"],
    ...["unset", "unset-too", "huge", "large", "small", "none"],
  ]);
});

pure("buildPolicyStatus() keeps the worst hundred workloads", () => {
  const workloads = Array.from({ length: 500 }, (_, index) => {
    const one = largeRecord(`w${index}`, { containers: 200, explanation: 4000 });
    const values = { cpu: 250 + index, memory: 88_617_123 };
    return { ...one, inForce: one.inForce.map((before) => ({ ...before, ...values })) };
  });
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

forAll("property 31: buildPolicyStatus() is read back unchanged", [
  workloadRecords("shop"),
  fc.boolean(),
], (workloads, dryRun) => {
  const status = build({ workloads, dryRun });
  assert.deepEqual(policyStatusSchema.parse(status), status);
  assert.equal(status.workloads?.length, workloads.length);
  // The order that the workloads came in is of no matter.
  assert.deepEqual(build({ workloads: workloads.toReversed(), dryRun }), status);
}, 1);

function objectsOf(records: readonly WorkloadRecord[]) {
  return reportParts(records).map(({ name, workloads }) => {
    const object = {
      apiVersion: "optipod.io/v1alpha1",
      kind: "RecommendationReport",
      metadata: { name, namespace: "shop", uid: "u", resourceVersion: "1" },
      workloads,
    };
    return { object, bytes: new TextEncoder().encode(JSON.stringify(object)).length };
  });
}

function sorted(records: readonly WorkloadRecord[]): readonly WorkloadRecord[] {
  const key = ({ workload }: WorkloadRecord): string => `${workload.kind}/${workload.name}`;
  return records.toSorted((a, b) => key(a) < key(b) ? -1 : 1);
}

pure("reportParts() keeps each object below a megabyte, however much there is to report", () => {
  assert.deepEqual(reportParts([]), []);
  const many = Array.from(
    { length: 2000 },
    (_, index) => largeRecord(`web-${index}`, { containers: 3, explanation: 400 }),
  );
  const giant = largeRecord("giant", { containers: 1000, explanation: 4000 });
  for (const records of [many, [giant], [...many, giant]]) {
    const sizes = objectsOf(records).map(({ bytes }) => bytes);
    assert.ok(Math.max(...sizes) < 1_000_000, `${Math.max(...sizes)}`);
  }
  assert.deepEqual(recordsOf(reportParts(many), "shop"), sorted(many));
  const [kept = assert.fail()] = recordsOf(reportParts([giant]), "shop");
  assert.deepEqual(kept.recommendations, giant.recommendations.slice(0, 128));
  assert.deepEqual(kept.inForce, giant.inForce.slice(0, 128));
  const names = reportParts(many).map(({ name }) => name);
  assert.deepEqual(names.slice(0, 2), ["recommendations-1", "recommendations-2"]);
  assert.ok(names.every(isReportName));
  const others = ["recommendations", "recommendations-0", "recommendations-1a", "mine-1"];
  assert.ok(!others.some(isReportName));
});

pure("recordsOf() has what was applied last, where a crash left two records", () => {
  const web = largeRecord("web", { containers: 1, explanation: 10 });
  const [old, recent] = [{ ...web, appliedAtMs: 1000 }, { ...web, appliedAtMs: 2000 }];
  for (const both of [[old, recent], [recent, old]]) {
    assert.deepEqual(recordsOf(both.flatMap((one) => reportParts([one])), "shop"), [recent]);
  }
});

forAll("reportParts() writes what the schema takes, and recordsOf() reads the same records", [
  workloadRecords("shop", { mostContainers: 128 }),
], (records) => {
  for (const { object, bytes } of objectsOf(records)) {
    assert.deepEqual(recommendationReportSchema.parse(object), object);
    assert.ok(bytes < 1_000_000);
  }
  const read = recordsOf(reportParts(records), "shop");
  assert.equal(JSON.stringify(read), JSON.stringify(sorted(records)));
}, 1);

pure("reportParts() writes quantities, bytes and times", () => {
  const figures = { samples: 9, min: 0, p50: 120, p90: 280, p95: 300, p99: 900, max: 2 ** 20 };
  const record = largeRecord("web", { containers: 1, explanation: 2 });
  const usage = [{ container: "app", cpu: figures }, { container: "side", memory: figures }];
  const [used, unused] = reportParts([{ ...record, usage, appliedAtMs: 1 }, record])
    .flatMap(({ workloads }) => workloads);
  assert.deepEqual(used?.recommendations, [
    { container: "container-0", cpu: "250m", memory: "88617123", explanation: "é" },
  ]);
  assert.equal(used?.lastApplied, "1970-01-01T00:00:00.001Z");
  const bytes = { min: "0", p50: "120", p90: "280", p95: "300", p99: "900", max: "1048576" };
  const cpu = { min: "0", p50: "120m", p90: "280m", p95: "300m", p99: "900m", max: "1048576m" };
  assert.deepEqual(used?.usage, [
    { container: "app", cpu: { samples: 9, ...cpu } },
    { container: "side", memory: { samples: 9, ...bytes } },
  ]);
  assert.ok(unused !== undefined && !("usage" in unused));
});

pure("reportParts() cuts an explanation that the schema would refuse", () => {
  const [part] = reportParts([largeRecord("web", { containers: 1, explanation: 20_000 })]);
  const text = part?.workloads[0]?.recommendations[0]?.explanation ?? "";
  assert.ok(new TextEncoder().encode(text).length <= 4096);
  assert.match(text, /^é+…$/);
});

pure("recordsOf() leaves out a spoiled entry, and keeps the others", () => {
  const records = ["a", "b"].map((name) => largeRecord(name, { containers: 1, explanation: 10 }));
  const [first = assert.fail(), second = assert.fail()] = reportParts(records)[0]?.workloads ??
    [];
  const spoiled = [
    { lastApplied: "yesterday" },
    { inForce: [{ container: "app", cpu: "much" }] },
    { status: "Lost" as never },
  ];
  for (const change of spoiled) {
    const workloads = [{ ...first, ...change }, second];
    assert.deepEqual(recordsOf([{ workloads }], "shop"), [records[1]]);
  }
});

/** `web 5 own`: of workload web, applied at 5, by which controller; `web own`: nothing was ever applied. */
function record(text: string): WorkloadRecord {
  const [name = "", second = "", third] = text.split(" ");
  return {
    workload: { kind: "Deployment", namespace: "shop", name },
    policy: { namespace: "shop", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: [],
    ...(third === undefined ? {} : { appliedAtMs: Number(second) }),
    message: text,
  };
}

type Versions = Partial<Record<keyof RecordVersions, readonly string[]>>;

/** The records, `*` after those of the other controller; `ahead` at the end. */
function merged({ ours = [], theirs = [], base = [] }: Versions, leads: boolean): string {
  const versions = { ours: ours.map(record), theirs: theirs.map(record), base: base.map(record) };
  const { records, taken, isAhead } = mergeRecords(versions, { leads });
  const names = records.map((one) => `${one.message}${taken.includes(one) ? "*" : ""}`).sort();
  return [...names, ...isAhead ? ["ahead"] : []].join(", ");
}

pure("mergeRecords() keeps what was applied later, else the leader's", () => {
  const before = ["web 3 before"];
  const both = { ours: ["web 3 own", "db own"], theirs: ["web 3 other", "db other"] };
  const tie: Versions = { ...both, base: before };
  /** The outcome for the leader, and for the others where that differs. */
  const rows: readonly (readonly [Versions, leads: string, otherwise?: string])[] = [
    [{ ours: ["web 5 own"], theirs: ["web 4 other"], base: before }, "web 5 own, ahead"],
    [{ ours: ["web 4 own"], theirs: ["web 5 other"], base: before }, "web 5 other*"],
    [{ ours: ["web 5 own"], theirs: ["web other"] }, "web 5 own, ahead"],
    [{ theirs: ["web 5 other"], base: before }, "web 5 other*"],
    [tie, "db own, web 3 own", "db other*, web 3 other*"],
    // A record that the leader has dropped is gone; one that it can't know stays.
    [{ theirs: before, base: before }, "", "web 3 before*"],
    [{ ours: before, base: before }, "web 3 before", ""],
    [{ ours: ["web own"] }, "web own", ""],
    [{ theirs: ["web other"] }, "web other*"],
    [{ ours: ["web 5 own"], base: before }, "web 5 own, ahead"],
  ];
  for (const [versions, leads, otherwise = leads] of rows) {
    assert.deepEqual([merged(versions, true), merged(versions, false)], [leads, otherwise]);
  }
});
