import assert from "node:assert/strict";
import { autoPolicy } from "../../tests/fixtures/rightsizing_facts.ts";
import type { ReadablePolicy } from "./policy_choice.ts";
import { policyNeighbours } from "./policy_neighbours.ts";
import type { WorkloadView } from "./policy_scope.ts";
import type { PolicySpec } from "./policy_spec.ts";

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
  return policyNeighbours(versions, {
    workloads,
    policies,
    namespaces: new Map([["shop", {}]]),
    policyNamespaces: [],
  }).map(({ metadata }) => metadata.name);
}

test("policyNeighbours() finds those of the same workloads, before and now", () => {
  assert.deepEqual(namesBeside(policyFor("web")), ["web"]);
  assert.deepEqual(namesBeside(policyFor("web"), policyFor("db")), ["web", "db"]);
  assert.deepEqual(namesBeside(policyFor("web", { mode: "Disabled" }), policyFor("db")), ["db"]);
});

test("policyNeighbours() finds nobody where the policy is for no workload", () => {
  assert.deepEqual(namesBeside(policyFor("job")), []);
  const elsewhere = { ...policyFor("web"), metadata: { namespace: "other", name: "web" } };
  assert.deepEqual(namesBeside(elsewhere), []);
  assert.deepEqual(namesBeside(), []);
});
