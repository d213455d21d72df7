import assert from "node:assert/strict";
import fc from "fast-check";
import {
  NAMESPACE_LABELS,
  POLICIES,
  POLICY_NAMESPACES,
  specWith,
  WORKLOADS,
} from "../../tests/fixtures/policy_scene.ts";
import {
  discoverWorkloads,
  outweighedRecord,
  policiesFor,
  type PolicySurroundings,
  type ReadablePolicy,
  workloadKey,
} from "./policy_choice.ts";
import { isInScope, type WorkloadView } from "./policy_scope.ts";
import type { PolicySpec } from "./policy_spec.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

const ADMINS: PolicySurroundings = {
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

pure("discoverWorkloads() tells the losers who has won", () => {
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

pure("discoverWorkloads() gives each workload one winner, whom no other policy outweighs", () => {
  let lost = 0;
  fc.assert(
    fc.property(POLICIES, WORKLOADS, NAMESPACE_LABELS, (policies, workloads, namespaces) => {
      const surroundings = { policies, namespaces, policyNamespaces: ["policies", "shop"] };
      const found = discoverWorkloads(workloads, surroundings);
      const winners = new Map<string, ReadablePolicy>();
      for (const [one, entries] of found) {
        for (const { workload: view, winner } of entries) {
          assert.equal(winners.get(workloadKey(view)) ?? winner, winner);
          winners.set(workloadKey(view), winner);
          assert.ok(winner.spec.weight >= one.spec.weight);
          assert.ok(found.get(winner)?.some((entry) => entry.workload === view));
          assert.equal(policiesFor(view, surroundings)[0], winner);
          if (winner !== one) lost++;
        }
      }
    }),
  );
  assert.ok(lost > 20, `${lost}`);
});
