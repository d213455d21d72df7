import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
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
import type { PolicySelector, PolicySpec } from "./policy_spec.ts";

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
