import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  MISTAKES,
  WELL_FORMED,
  withField,
  type WrittenSpec,
} from "../../tests/fixtures/rightsizing/written_policies.ts";
import { faultText } from "../api/fields.ts";
import type { UsageProvider } from "../api/optimization_policy.ts";
import { type PolicySelector, type PolicySpec, readPolicySpec } from "./policy_spec.ts";
import { autoPolicy } from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  affectedPolicies,
  isInScope,
  type MatchedPolicy,
  outweighedRecord,
  policyFor,
  type ReadablePolicy,
  type WorkloadView,
} from "./policy_match.ts";

const LEAST: WrittenSpec = {
  mode: "Recommend",
  selector: { workloadSelector: {} },
  metricsConfig: { provider: "prometheus" },
  resourceBounds: { cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
};

/** Checks field and value of each fault, and what it says is valid. */
function assertFaults(
  raw: unknown,
  expected: readonly (readonly [field: string, value: string | undefined, valid: RegExp])[],
): void {
  const { spec, faults } = readPolicySpec(raw);
  assert.equal(spec === undefined, faults.length > 0);
  assert.deepEqual(
    faults.map(({ field, value }) => [field, value]),
    expected.map(([field, value]) => [field, value]),
  );
  assertMatches(faults.map(({ valid }) => valid), expected.map(([, , valid]) => valid));
}

pure("readPolicySpec() gives each field that is not there its default", () => {
  assert.deepEqual(readPolicySpec(LEAST), {
    spec: {
      ...{ mode: "Recommend", weight: 100, provider: "prometheus", percentile: "P90" },
      ...{ windowMs: 86_400_000, intervalMs: 300_000, safetyFactor: 1.2, minSamples: 10 },
      selector: {
        workloadSelector: { matchLabels: {}, matchExpressions: [] },
        workloadKinds: ["Deployment", "StatefulSet", "DaemonSet"],
      },
      bounds: { cpu: { min: 100, max: 2000 }, memory: { min: 128 * 2 ** 20, max: 2 ** 30 } },
      updateStrategy: {
        ...{ allowInPlaceResize: true, allowRecreate: false, updateRequestsOnly: true },
        ...{ changeThresholdPercent: 10, cooldownMs: 1_800_000, useServerSideApply: true },
        ...{ limitMultipliers: { cpu: 1, memory: 1.1 }, allowWithHPA: false, publishVPA: false },
      },
    },
    faults: [],
  });
});

pure("readPolicySpec() takes provider, source, samples and kinds from several fields", () => {
  const of = (change: WrittenSpec, provider?: UsageProvider) =>
    readPolicySpec({ ...LEAST, ...change }, provider === undefined ? {} : { provider });
  const open = { metricsConfig: {} };
  const named = (provider?: string) => ({
    metricsConfig: { ...(provider && { provider }), custom: { name: "warehouse" } },
  });
  assert.equal(of(open, "metrics-server").spec?.provider, "metrics-server");
  assert.equal(of({}, "metrics-server").spec?.provider, "prometheus");
  assertFaults({ ...LEAST, ...open }, [
    ["spec.metricsConfig.provider", undefined, /metrics-server.*rightsizing\.provider/],
  ]);
  assert.deepEqual(of(open, "custom").faults.map(({ field }) => field), [
    "spec.metricsConfig.custom",
  ]);
  assert.equal(of(named(), "custom").spec?.customSource, "warehouse");
  assert.equal(of(named("custom")).spec?.customSource, "warehouse");
  assert.equal(of(named("prometheus")).spec?.customSource, undefined);
  const samples = (metricsConfig: WrittenSpec) =>
    of({ metricsConfig: { provider: "prometheus", ...metricsConfig } }).spec?.minSamples;
  const both = { minSamples: 20, metricsServer: { minSamplesRequired: 30 } };
  const found = [samples({ minSamples: 20 }), samples(both), samples({ ...both, minSamples: 10 })];
  assert.deepEqual(found, [20, 30, 30]);
  assert.equal(samples({ minSamples: 20, metricsServer: {} }), 20);
  const kinds = (workloadTypes: WrittenSpec) =>
    of({ selector: { namespaces: {}, workloadTypes } }).spec?.selector.workloadKinds.join();
  assert.equal(kinds({}), "Deployment,StatefulSet,DaemonSet");
  const include = ["DaemonSet", "Deployment", "DaemonSet"];
  assert.equal(kinds({ include }), "Deployment,DaemonSet");
  assert.equal(kinds({ exclude: ["StatefulSet"] }), "Deployment,DaemonSet");
  assert.equal(kinds({ include: ["StatefulSet"], exclude: ["StatefulSet"] }), "");
});

pure("readPolicySpec() takes label keys with a prefix of 253 characters", () => {
  const assertFaulty = (prefix: string, fields: readonly string[]): void => {
    const key = `${prefix}/a`;
    const matchExpressions = [{ key, operator: "Exists" }];
    const selector = { workloadSelector: { matchLabels: { [key]: "" }, matchExpressions } };
    const { faults } = readPolicySpec({ ...LEAST, selector });
    assert.deepEqual(faults.map(({ field }) => field), fields);
    assertMatches(faults.map(({ valid }) => valid), fields.map(() => / keys?, .*app or /));
  };
  const longest = `${"x.".repeat(126)}x`;
  assertFaulty(longest, []);
  assertFaulty(`${longest}x`, [
    "spec.selector.workloadSelector.matchLabels",
    "spec.selector.workloadSelector.matchExpressions[0].key",
  ]);
});

forAll("property 15: readPolicySpec() reads well-formed policies", [WELL_FORMED], (well) => {
  const before = JSON.stringify(well.spec);
  const { spec, faults } = readPolicySpec(well.spec);
  assert.deepEqual(faults.map(faultText), []);
  assert.ok(spec !== undefined);
  assert.equal(JSON.stringify(well.spec), before);
  const { windowMs, intervalMs, bounds, updateStrategy: { cooldownMs } } = spec;
  assert.deepEqual({ windowMs, intervalMs, cooldownMs, bounds }, well.meant);
}, 1);

pure("property 15: readPolicySpec() refuses a mistake in any field, and names the field", () => {
  for (const [field, wrong, valid] of MISTAKES) {
    fc.assert(fc.property(WELL_FORMED, wrong, ({ spec: written }, value) => {
      const { spec, faults } = readPolicySpec(withField(written, field, value));
      assert.equal(spec, undefined, `${field}: ${JSON.stringify(value)} was taken`);
      const own = faults.filter((fault) => fault.field === field);
      assert.equal(own.length > 0, true, faults.map(faultText).join("; "));
      assert.match(own.map((fault) => fault.valid).join("; "), valid);
    }));
  }
});

const bound = fc.integer({ min: 1, max: 10_000 });

forAll("property 15: readPolicySpec() refuses bounds in the wrong order, and terms", [
  bound,
  bound,
  fc.boolean(),
], (a, b, exists) => {
  const [min, max] = [Math.max(a, b) + 1, Math.min(a, b)];
  assertFaults(withField(LEAST, "spec.resourceBounds.memory", { min, max }), [
    ["spec.resourceBounds.memory.min", String(min), /above max$/],
  ]);
  const term = exists
    ? { key: "app", operator: a % 2 === 0 ? "Exists" : "DoesNotExist", values: ["web"] }
    : { key: "app", operator: a % 2 === 0 ? "In" : "NotIn", values: [] };
  const field = "spec.selector.namespaceSelector.matchExpressions[0]";
  const [fault, ...more] = readPolicySpec(withField(LEAST, field, term)).faults;
  assert.deepEqual([fault?.field, more], [`${field}.values`, []]);
  assert.match(fault?.valid ?? "", exists ? / empty / : / one value /);
}, 1);

forAll("property 15: readPolicySpec() never throws, whatever stands in a policy", [
  fc.jsonValue(),
  fc.constantFrom(...MISTAKES),
], (value, [field]) => {
  const { faults } = readPolicySpec(withField(LEAST, field, value));
  for (const fault of faults) assert.match(faultText(fault), /^spec\S* is .+: must /);
}, 1);

const KINDS = ["Deployment", "StatefulSet", "DaemonSet"] as const;
const ALL: PolicySelector = { workloadKinds: KINDS };

function workload(namespace: string, name: string, labels = {}): WorkloadView {
  return { kind: "Deployment", metadata: { namespace, name, labels } };
}

function policy(key: string, change: Partial<PolicySpec> = {}): ReadablePolicy {
  const [namespace = "", name = ""] = key.split("/");
  return { metadata: { namespace, name }, spec: autoPolicy({}, change) };
}

const keyOf = ({ metadata }: MatchedPolicy): string => `${metadata.namespace}/${metadata.name}`;

pure("isInScope() asks for the kind, the names of namespaces and both selectors", () => {
  const labelled = (app: string) => ({ matchLabels: { app }, matchExpressions: [] });
  const of = (
    selector: Partial<PolicySelector>,
    namespaceLabels?: Readonly<Record<string, string>>,
  ) =>
    isInScope(workload("shop", "web", { app: "web" }), {
      ...{ selector: { ...ALL, ...selector }, namespaceLabels },
    });
  const rows: readonly (readonly [Partial<PolicySelector>, boolean])[] = [
    [{}, true],
    [{ workloadKinds: ["StatefulSet"] }, false],
    [{ workloadSelector: labelled("web") }, true],
    [{ workloadSelector: labelled("live") }, false],
    [{ namespaceSelector: labelled("live") }, true],
    [{ namespaceSelector: labelled("web") }, false],
    [{ namespaces: { allow: [], deny: [] } }, true],
    [{ namespaces: { allow: ["bank", "shop"], deny: ["batch"] } }, true],
    [{ namespaces: { allow: ["bank"], deny: [] } }, false],
    [{ namespaces: { allow: [], deny: ["shop"] } }, false],
    [{ namespaces: { allow: ["shop"], deny: ["shop"] } }, false],
    [{ namespaces: { allow: ["shop"], deny: [] }, workloadSelector: labelled("live") }, false],
  ];
  for (const [selector, expected] of rows) {
    assert.equal(of(selector, { app: "live" }), expected, JSON.stringify(selector));
  }
  // Labels of the namespace are not known.
  const absent = [{ key: "frozen", operator: "DoesNotExist", values: [] } as const];
  const namespaceSelector = { matchLabels: {}, matchExpressions: absent };
  assert.deepEqual([of({ namespaceSelector }), of({})], [false, true]);
});

pure("policyFor() is the policy of most weight, then the first by namespace and name", () => {
  const input = { namespaces: new Map(), policyNamespaces: ["a", "a-b", "policies"] };
  const winner = (...policies: readonly MatchedPolicy[]): string => {
    const winners = [policies, policies.toReversed()].map((all) => {
      const found = policyFor(workload("a", "web"), { policies: all, ...input });
      return found === undefined ? "" : keyOf(found);
    });
    assert.equal(winners[0], winners[1]);
    return winners[0] ?? "";
  };
  const heavy = policy("policies/heavy", { weight: 1000 });
  assert.equal(winner(policy("a/light", { weight: 1 }), heavy), "policies/heavy");
  const equal = ["a/b", "a/z", "a-b/a", "policies/a"].map((key) => policy(key));
  for (const [index, one] of equal.entries()) {
    assert.equal(winner(...equal.slice(index)), keyOf(one));
  }
  const off = policy("a/off", { mode: "Disabled", weight: 1000 });
  assert.equal(winner(off, { metadata: heavy.metadata }, policy("a/on")), "a/on");
  assert.equal(winner(policy("tenant/greedy", { weight: 1000 })), "");
  assert.equal(winner(policy("a/daemons", { selector: { workloadKinds: ["DaemonSet"] } })), "");
});

pure("outweighedRecord() names the policy that counts, for the loser's status", () => {
  const winner = policy("policies/heavy", { weight: 500 });
  const record = outweighedRecord(workload("shop", "web"), winner);
  assert.partialDeepStrictEqual(record, {
    workload: { kind: "Deployment", namespace: "shop", name: "web" },
    policy: winner.metadata,
    ...{ status: "Skipped", reason: "Outweighed" },
  });
  assert.match(record.message ?? "", / policies\/heavy .* 500 /);
});

pure("affectedPolicies() finds those of the same workloads, before and now", () => {
  /** A policy for Deployments with this label `app`. */
  const policyOf = (app: string, fields: Partial<PolicySpec> = {}): ReadablePolicy => {
    const workloadSelector = { matchLabels: { app }, matchExpressions: [] };
    const selector = { workloadSelector, workloadKinds: ["Deployment"] } as const;
    return policy(`shop/${app}`, { selector, ...fields });
  };
  const beside = (...versions: readonly ReadablePolicy[]): string =>
    affectedPolicies(versions, {
      workloads: ["web", "db"].map((app) => workload("shop", app, { app })),
      policies: [policyOf("web"), policyOf("db"), policyOf("job")],
      namespaces: new Map([["shop", {}]]),
      policyNamespaces: [],
    }).map(({ metadata }) => metadata.name).join();
  assert.equal(beside(policyOf("web")), "web");
  assert.equal(beside(policyOf("web"), policyOf("db")), "web,db");
  assert.equal(beside(policyOf("web", { mode: "Disabled" }), policyOf("db")), "db");
  assert.equal(beside(policyOf("job")), "");
  assert.equal(beside({ ...policyOf("web"), metadata: { namespace: "other", name: "web" } }), "");
  assert.equal(beside(), "");
});
