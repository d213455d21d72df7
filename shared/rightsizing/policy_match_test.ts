import fc from "fast-check";
import assert from "node:assert/strict";
import {
  LABELS,
  NAMESPACE_LABELS,
  POLICIES,
  POLICY_NAMESPACES,
  SELECTORS,
  specWith,
  WORKLOADS,
} from "../../tests/fixtures/rightsizing/policy_scene.ts";
import { autoPolicy } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { labelsMatch } from "../api/label_selector.ts";
import {
  affectedPolicies,
  discoverWorkloads,
  isInScope,
  outweighedRecord,
  policiesFor,
  type PolicyInput,
  reachesNamespace,
  type ReadablePolicy,
  workloadKey,
  type WorkloadView,
} from "./policy_match.ts";
import type { PolicySelector, PolicySpec } from "./policy_spec.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const KINDS = ["Deployment", "StatefulSet", "DaemonSet"] as const;
const WEB: WorkloadView = {
  kind: "Deployment",
  metadata: { namespace: "shop", name: "web", labels: { app: "web" } },
};
const ALL: PolicySelector = { workloadKinds: KINDS };

function inScope(selector: Partial<PolicySelector>, namespaceLabels = { env: "prod" }): boolean {
  return isInScope(WEB, { selector: { ...ALL, ...selector }, namespaceLabels });
}

pure("isInScope() lets deny win over allow, and takes an empty allow for all", () => {
  const names = (allow: string[], deny: string[]) => inScope({ namespaces: { allow, deny } });
  assert.equal(names([], []), true);
  assert.equal(names(["shop"], []), true);
  assert.equal(names(["other"], []), false);
  assert.equal(names([], ["shop"]), false);
  assert.equal(names(["shop"], ["shop"]), false);
  assert.equal(names(["shop"], ["other"]), true);
});

pure(
  "isInScope() reads the labels of the namespace and of the workload, each by its selector",
  () => {
    const app = { matchLabels: { app: "web" }, matchExpressions: [] };
    const env = { matchLabels: { env: "prod" }, matchExpressions: [] };
    assert.equal(inScope({ workloadSelector: app }), true);
    assert.equal(inScope({ workloadSelector: env }), false);
    assert.equal(inScope({ namespaceSelector: env }), true);
    assert.equal(inScope({ namespaceSelector: app }), false);
    assert.equal(inScope({ workloadSelector: app, namespaceSelector: env }), true);
  },
);

pure("isInScope() wants one of the kinds; none is valid, and nothing's", () => {
  assert.equal(inScope({ workloadKinds: ["Deployment"] }), true);
  assert.equal(inScope({ workloadKinds: ["StatefulSet", "DaemonSet"] }), false);
  assert.equal(inScope({ workloadKinds: [] }), false);
});

pure("isInScope() is false for a namespace with unknown labels, if they are asked for", () => {
  const absent = {
    matchLabels: {},
    matchExpressions: [{ key: "frozen", operator: "DoesNotExist", values: [] } as const],
  };
  const unknown = { namespaceLabels: undefined };
  assert.equal(
    isInScope(WEB, { selector: { ...ALL, namespaceSelector: absent }, ...unknown }),
    false,
  );
  assert.equal(isInScope(WEB, { selector: ALL, ...unknown }), true);
});

pure("property 27: isInScope() is namespaceSelector ∧ workloadSelector ∧ allow ∧ ¬deny", () => {
  const outcomes = new Set<boolean>();
  fc.assert(
    fc.property(SELECTORS, WORKLOADS, LABELS, (selector, workloads, namespaceLabels) => {
      for (const workload of workloads) {
        const { namespace, labels = {} } = workload.metadata;
        const facts = [
          selector.namespaceSelector === undefined ||
          labelsMatch(namespaceLabels, selector.namespaceSelector),
          selector.workloadSelector === undefined ||
          labelsMatch(labels, selector.workloadSelector),
          (selector.namespaces?.allow ?? []).length === 0 ||
          selector.namespaces?.allow.includes(namespace),
          !selector.namespaces?.deny.includes(namespace),
          selector.workloadKinds.includes(workload.kind),
        ];
        const found = isInScope(workload, { selector, namespaceLabels });
        assert.equal(found, !facts.includes(false));
        outcomes.add(found);
      }
    }),
  );
  assert.equal(outcomes.size, 2);
});

pure("property 27: isInScope() never holds for a namespace that is denied, allowed or not", () => {
  fc.assert(fc.property(SELECTORS, WORKLOADS, NAMESPACE_LABELS, (selector, workloads, known) => {
    for (const workload of workloads) {
      const { namespace } = workload.metadata;
      const namespaces = { allow: [namespace], deny: [namespace] };
      const namespaceLabels = known.get(namespace);
      assert.equal(
        isInScope(workload, { selector: { ...selector, namespaces }, namespaceLabels }),
        false,
      );
    }
  }));
});

pure("reachesNamespace() lets a policy out of its own namespace only where that is listed", () => {
  const reach = (policyNamespace: string, policyNamespaces: string[] = []) =>
    reachesNamespace("shop", { policyNamespace, policyNamespaces });
  assert.equal(reach("shop"), true);
  assert.equal(reach("tenant"), false);
  assert.equal(reach("tenant", ["policies"]), false);
  assert.equal(reach("policies", ["policies"]), true);
  // To be listed gives a namespace's policies a reach; it takes none from others.
  assert.equal(reach("tenant", ["shop"]), false);
});

function workload(namespace: string, name: string): WorkloadView {
  return { kind: "Deployment", metadata: { namespace, name, labels: {} } };
}

function policy(key: string, change: Partial<PolicySpec> = {}): ReadablePolicy {
  const [namespace = "", name = ""] = key.split("/");
  return { metadata: { namespace, name }, spec: specWith(change) };
}

function keyOf({ metadata }: ReadablePolicy): string {
  return `${metadata.namespace}/${metadata.name}`;
}

const ADMINS: PolicyInput = {
  namespaces: new Map(),
  policyNamespaces: ["a", "a-b", "policies"],
};

function order(...policies: ReadablePolicy[]): readonly string[] {
  const web = workload("a", "web");
  const found = policiesFor(web, { policies, ...ADMINS });
  assert.deepEqual(policiesFor(web, { policies: policies.toReversed(), ...ADMINS }), found);
  return found.map(keyOf);
}

pure("policiesFor() puts the highest weight first, then namespace and name", () => {
  assert.deepEqual(
    order(policy("a/light", { weight: 1 }), policy("policies/heavy", { weight: 1000 })),
    ["policies/heavy", "a/light"],
  );
  assert.deepEqual(order(policy("policies/a"), policy("a/z"), policy("a/b"), policy("a-b/a")), [
    "a/b",
    "a/z",
    "a-b/a",
    "policies/a",
  ]);
});

pure("policiesFor() leaves out the disabled, those out of scope and those out of reach", () => {
  assert.deepEqual(order(policy("a/off", { mode: "Disabled", weight: 1000 }), policy("a/on")), [
    "a/on",
  ]);
  assert.deepEqual(order(policy("tenant/greedy", { weight: 1000 })), []);
  const selector = { workloadKinds: ["DaemonSet"] } as const;
  assert.deepEqual(order(policy("a/daemons", { selector })), []);
});

pure("discoverWorkloads() names the winner to the losers", () => {
  const [winner, loser] = [policy("a/one", { weight: 200 }), policy("policies/two")];
  const [web, db] = [workload("a", "web"), workload("b", "db")];
  const found = discoverWorkloads([web, db], { policies: [loser, winner], ...ADMINS });
  // The own namespace of the first is listed, too.
  assert.deepEqual(found.get(winner), [{ workload: web, winner }, { workload: db, winner }]);
  assert.deepEqual(found.get(loser), [{ workload: web, winner }, { workload: db, winner }]);
  const alone = discoverWorkloads([web, db], {
    policies: [loser, winner],
    namespaces: new Map(),
    policyNamespaces: ["policies"],
  });
  assert.deepEqual(alone.get(winner), [{ workload: web, winner }]);
  assert.deepEqual(alone.get(loser), [{ workload: web, winner }, { workload: db, winner: loser }]);
});

pure("outweighedRecord() names the policy that counts, for the loser's status", () => {
  const winner = policy("policies/heavy", { weight: 500 });
  const record = outweighedRecord({ workload: workload("shop", "web"), winner });
  assert.deepEqual([record.status, record.reason, record.policy], [
    "Skipped",
    "Outweighed",
    winner.metadata,
  ]);
  assert.match(record.message ?? "", /^policy policies\/heavy of weight 500 /);
  assert.deepEqual(record.workload, { kind: "Deployment", namespace: "shop", name: "web" });
});

pure("property 16: discoverWorkloads() finds exactly the matching workloads, each once", () => {
  let discovered = 0;
  fc.assert(
    fc.property(
      fc.record({
        policies: POLICIES,
        namespaces: NAMESPACE_LABELS,
        policyNamespaces: POLICY_NAMESPACES,
      }),
      WORKLOADS,
      ({ policies, namespaces, policyNamespaces }, workloads) => {
        const distinct = workloads.filter((one, at) =>
          workloads.findIndex((other) => workloadKey(other) === workloadKey(one)) === at
        );
        const found = discoverWorkloads(workloads, { policies, namespaces, policyNamespaces });
        assert.deepEqual([...found.keys()], policies);
        for (const one of policies) {
          const own = one.metadata.namespace;
          const expected = distinct.filter((view) =>
            one.spec.mode !== "Disabled" &&
            (view.metadata.namespace === own || policyNamespaces.includes(own)) &&
            isInScope(view, {
              selector: one.spec.selector,
              namespaceLabels: namespaces.get(view.metadata.namespace),
            })
          );
          assert.deepEqual(found.get(one)?.map((entry) => entry.workload), expected);
          discovered += expected.length;
        }
      },
    ),
  );
  assert.ok(discovered > 100, `${discovered}`);
});

pure("discoverWorkloads() gives each workload one winner, which no other policy outweighs", () => {
  let lost = 0;
  fc.assert(
    fc.property(POLICIES, WORKLOADS, NAMESPACE_LABELS, (policies, workloads, namespaces) => {
      const input = { policies, namespaces, policyNamespaces: ["policies", "shop"] };
      const found = discoverWorkloads(workloads, input);
      const winners = new Map<string, ReadablePolicy>();
      for (const [one, entries] of found) {
        for (const { workload: view, winner } of entries) {
          assert.equal(winners.get(workloadKey(view)) ?? winner, winner);
          winners.set(workloadKey(view), winner);
          assert.ok(winner.spec.weight >= one.spec.weight);
          assert.ok(found.get(winner)?.some((entry) => entry.workload === view));
          assert.equal(policiesFor(view, input)[0], winner);
          if (winner !== one) lost++;
        }
      }
    }),
  );
  assert.ok(lost > 20, `${lost}`);
});

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A policy for Deployments with this label `app`. */
function policyFor(app: string, fields: Partial<PolicySpec> = {}): ReadablePolicy {
  const workloadSelector = { matchLabels: { app }, matchExpressions: [] };
  const selector: PolicySpec["selector"] = { workloadSelector, workloadKinds: ["Deployment"] };
  return {
    metadata: { namespace: "shop", name: app },
    spec: autoPolicy({}, { selector, ...fields }),
  };
}

function namesBeside(...versions: readonly ReadablePolicy[]): readonly string[] {
  const workloads = ["web", "db"].map((app): WorkloadView => ({
    kind: "Deployment",
    metadata: { namespace: "shop", name: app, labels: { app } },
  }));
  const policies = [policyFor("web"), policyFor("db"), policyFor("job")];
  return affectedPolicies(versions, {
    workloads,
    policies,
    namespaces: new Map([["shop", {}]]),
    policyNamespaces: [],
  }).map(({ metadata }) => metadata.name);
}

test("affectedPolicies() finds those of the same workloads, before and now", () => {
  assert.deepEqual(namesBeside(policyFor("web")), ["web"]);
  assert.deepEqual(namesBeside(policyFor("web"), policyFor("db")), ["web", "db"]);
  assert.deepEqual(namesBeside(policyFor("web", { mode: "Disabled" }), policyFor("db")), ["db"]);
});

test("affectedPolicies() finds no policy where the policy is for no workload", () => {
  assert.deepEqual(namesBeside(policyFor("job")), []);
  const elsewhere = { ...policyFor("web"), metadata: { namespace: "other", name: "web" } };
  assert.deepEqual(namesBeside(elsewhere), []);
  assert.deepEqual(namesBeside(), []);
});
