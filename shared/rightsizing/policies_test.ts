import fc from "fast-check";
import assert from "node:assert/strict";
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
import { type LabelRequirement, labelsMatch } from "../api/label_selector.ts";
import {
  affectedPolicies,
  isInScope,
  type MatchedPolicy,
  matchesWorkload,
  outweighedRecord,
  policyFor,
  type ReadablePolicy,
  type WorkloadView,
} from "./policy_match.ts";

/** The required fields, and nothing else. */
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
      mode: "Recommend",
      weight: 100,
      selector: {
        workloadSelector: { matchLabels: {}, matchExpressions: [] },
        workloadKinds: ["Deployment", "StatefulSet", "DaemonSet"],
      },
      provider: "prometheus",
      windowMs: 86_400_000,
      percentile: "P90",
      safetyFactor: 1.2,
      minSamples: 10,
      bounds: { cpu: { min: 100, max: 2000 }, memory: { min: 128 * 2 ** 20, max: 2 ** 30 } },
      updateStrategy: {
        allowInPlaceResize: true,
        allowRecreate: false,
        updateRequestsOnly: true,
        limitMultipliers: { cpu: 1, memory: 1.1 },
        changeThresholdPercent: 10,
        cooldownMs: 1_800_000,
        useServerSideApply: true,
        allowWithHPA: false,
        publishVPA: false,
      },
      intervalMs: 300_000,
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

pure("readPolicySpec() names the faults of an invalid spec", () => {
  assertFaults(undefined, [["spec", undefined, / object$/]]);
  assertFaults([], [["spec", "a list of 0", / object$/]]);
  assertFaults({ ...LEAST, selector: { workloadTypes: {} } }, [
    ["spec.selector", "an object", / namespaceSelector, workloadSelector and namespaces$/],
  ]);
});

pure("property 15: readPolicySpec() takes well-formed policies for what they say", () => {
  fc.assert(
    fc.property(WELL_FORMED, ({ spec: written, meant }) => {
      const before = JSON.stringify(written);
      const { spec, faults } = readPolicySpec(written);
      assert.deepEqual(faults.map(faultText), []);
      assert.ok(spec !== undefined);
      assert.equal(JSON.stringify(written), before);
      assert.deepEqual(
        {
          windowMs: spec.windowMs,
          intervalMs: spec.intervalMs,
          cooldownMs: spec.updateStrategy.cooldownMs,
          bounds: spec.bounds,
        },
        meant,
      );
    }),
  );
});

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

pure("property 15: readPolicySpec() refuses bounds in the wrong order", () => {
  const bound = fc.integer({ min: 1, max: 10_000 });
  fc.assert(fc.property(bound, bound, fc.boolean(), (a, b, exists) => {
    const [min, max] = [Math.max(a, b) + 1, Math.min(a, b)];
    assertFaults(
      withField(LEAST, "spec.resourceBounds.memory", { min, max }),
      [["spec.resourceBounds.memory.min", String(min), /above max$/]],
    );
    const term = exists
      ? { key: "app", operator: a % 2 === 0 ? "Exists" : "DoesNotExist", values: ["web"] }
      : { key: "app", operator: a % 2 === 0 ? "In" : "NotIn", values: [] };
    const field = "spec.selector.namespaceSelector.matchExpressions[0]";
    const [fault, ...more] = readPolicySpec(withField(LEAST, field, term)).faults;
    assert.deepEqual([fault?.field, more], [`${field}.values`, []]);
    assert.match(fault?.valid ?? "", exists ? / empty / : / one value /);
  }));
});

pure("property 15: readPolicySpec() never throws, whatever stands in a policy", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(...MISTAKES), (value, [field]) => {
    const { faults } = readPolicySpec(withField(LEAST, field, value));
    for (const fault of faults) assert.match(faultText(fault), /^spec\S* is .+: must /);
  }));
});

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

pure("isInScope() leaves out a namespace with unknown labels where they are asked for", () => {
  const absent = [{ key: "frozen", operator: "DoesNotExist", values: [] } as const];
  const namespaceSelector = { matchLabels: {}, matchExpressions: absent };
  const found = [{ namespaceSelector }, {}].map((change) =>
    isInScope(workload("shop", "web"), {
      selector: { ...ALL, ...change },
      namespaceLabels: undefined,
    })
  );
  assert.deepEqual(found, [false, true]);
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
  const { workload: name, policy: by, status, reason, message = "" } = outweighedRecord(
    workload("shop", "web"),
    winner,
  );
  assert.deepEqual(name, { kind: "Deployment", namespace: "shop", name: "web" });
  assert.deepEqual([status, reason, by], ["Skipped", "Outweighed", winner.metadata]);
  assert.match(message, /^policy policies\/heavy of weight 500 /);
});

const NAMESPACES: readonly string[] = ["shop", "batch", "policies"];
const value = fc.constantFrom("a", "b");
const key = fc.constantFrom("app", "tier");
const labels = fc.dictionary(key, value, { maxKeys: 2 });
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom("In" as const, "NotIn" as const),
    values: fc.uniqueArray(value, { minLength: 1 }),
  }),
  fc.record({
    key,
    operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const),
    values: fc.constant([]),
  }),
);
const labelSelector = fc.record({
  matchLabels: fc.dictionary(key, value, { maxKeys: 1 }),
  matchExpressions: fc.array(requirement, { maxLength: 1 }),
});
const names = fc.uniqueArray(fc.constantFrom(...NAMESPACES), { maxLength: 2 });

/** Now and then each part: a selector of many parts matches hardly anything. */
const selectors: fc.Arbitrary<PolicySelector> = fc.record({
  parts: fc.record({
    namespaceSelector: labelSelector,
    workloadSelector: labelSelector,
    namespaces: fc.record({ allow: names, deny: names }),
  }, { requiredKeys: [] }),
  keep: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
  workloadKinds: fc.oneof({ weight: 3, arbitrary: fc.constant(KINDS) }, fc.subarray([...KINDS])),
}).map(({ parts, keep, workloadKinds }) => ({
  ...Object.fromEntries(Object.entries(parts).filter((_, index) => keep[index] === 0)),
  workloadKinds,
}));
const workloads: fc.Arbitrary<readonly WorkloadView[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    metadata: fc.record({
      namespace: fc.constantFrom(...NAMESPACES),
      name: fc.constantFrom("web", "db", "job"),
      labels,
    }),
  }),
  { maxLength: 20 },
);
/** Labels of namespaces, of which some are not known, and namespaces with policies that act on all others. */
const inputs = fc.record({
  namespaces: fc.array(fc.tuple(fc.constantFrom(...NAMESPACES), labels), { maxLength: 6 })
    .map((entries) => new Map(entries)),
  policyNamespaces: fc.uniqueArray(fc.constantFrom<string>("policies", "shop")),
});
/** Policies of few weights, no two of one name. */
const policies: fc.Arbitrary<readonly ReadablePolicy[]> = fc.uniqueArray(
  fc.record({
    key: fc.tuple(fc.constantFrom(...NAMESPACES), fc.constantFrom("one", "two"))
      .map((parts) => parts.join("/")),
    mode: fc.constantFrom("Auto" as const, "Recommend" as const, "Recommend", "Disabled" as const),
    weight: fc.constantFrom(50, 100, 100, 200),
    selector: selectors,
  }).map(({ key, ...change }) => policy(key, change)),
  { minLength: 2, maxLength: 6, selector: keyOf },
);

pure("property 27: isInScope() is namespaceSelector ∧ workloadSelector ∧ allow ∧ ¬deny", () => {
  const outcomes = new Set<boolean>();
  fc.assert(fc.property(selectors, workloads, labels, (selector, all, namespaceLabels) => {
    const { namespaceSelector, workloadSelector, namespaces, workloadKinds } = selector;
    for (const one of all) {
      const { namespace, labels = {} } = one.metadata;
      const snapshot = [
        namespaceSelector === undefined || labelsMatch(namespaceLabels, namespaceSelector),
        workloadSelector === undefined || labelsMatch(labels, workloadSelector),
        (namespaces?.allow ?? []).length === 0 || namespaces?.allow.includes(namespace),
        !namespaces?.deny.includes(namespace),
        workloadKinds.includes(one.kind),
      ];
      const found = isInScope(one, { selector, namespaceLabels });
      assert.equal(found, !snapshot.includes(false));
      outcomes.add(found);
      const denied = { ...selector, namespaces: { allow: [namespace], deny: [namespace] } };
      assert.equal(isInScope(one, { selector: denied, namespaceLabels }), false);
    }
  }));
  assert.equal(outcomes.size, 2);
});

pure("property 16: matchesWorkload() is mode, reach and scope; one policy wins", () => {
  let [matched, lost] = [0, 0];
  fc.assert(fc.property(policies, workloads, inputs, (all, views, input) => {
    for (const view of views) {
      const { namespace } = view.metadata;
      const expected = all.filter(({ metadata: { namespace: own }, spec: { mode, selector } }) =>
        mode !== "Disabled" && (namespace === own || input.policyNamespaces.includes(own)) &&
        isInScope(view, { selector, namespaceLabels: input.namespaces.get(namespace) })
      );
      assert.deepEqual(all.filter((one) => matchesWorkload(one, view, input)), expected);
      const winner = policyFor(view, { policies: all, ...input });
      assert.equal(winner !== undefined, expected.length > 0);
      assert.ok(winner === undefined || expected.includes(winner));
      const weights = expected.map(({ spec }) => spec.weight);
      assert.equal(winner?.spec.weight ?? -Infinity, Math.max(...weights));
      matched += expected.length;
      lost += Math.max(0, expected.length - 1);
    }
  }));
  assert.ok(matched > 100 && lost > 20, `${matched} ${lost}`);
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
