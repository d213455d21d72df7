import assert from "node:assert/strict";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { autoPolicy } from "../../tests/fixtures/rightsizing_facts.ts";
import { wonPlaces } from "./won_places.ts";

const WORKLOADS = ["shop/web", "shop/db", "bank/web", "quiet/web"].flatMap((path) => {
  const [namespace = "", name = ""] = path.split("/");
  return (["Deployment", "DaemonSet"] as const).map((kind: WorkloadKind) => ({
    kind,
    metadata: { namespace, name },
  }));
});

function placesFor(spec: PolicySpec): readonly string[] {
  return wonPlaces(WORKLOADS, {
    policies: [{ metadata: { namespace: "ops", name: "all" }, spec }],
    namespaces: new Map(),
    policyNamespaces: ["ops"],
  }).map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace}/${name}`);
}

Deno.test("wonPlaces() has one workload a namespace and kind, of those that an enabled policy has", () => {
  const selector: PolicySpec["selector"] = {
    namespaces: { allow: [], deny: ["quiet"] },
    workloadKinds: ["Deployment"],
  };
  assert.deepEqual(placesFor(autoPolicy({}, { selector })), [
    "Deployment shop/web",
    "Deployment bank/web",
  ]);
  assert.deepEqual(placesFor(autoPolicy({}, { selector, mode: "Disabled" })), []);
});
