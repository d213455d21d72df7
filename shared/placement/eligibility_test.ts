import assert from "node:assert/strict";
import { ENABLED, PAUSED, SPOT_PERCENTAGE } from "../api/placement_keys.ts";
import {
  checkEligibility,
  type EligibilityInput,
  isPlacedKind,
  type PlacementScope,
} from "./eligibility.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const SCOPE: PlacementScope = { ownNamespace: "coallocator" };

const TEAM_A: PlacementScope = {
  ...SCOPE,
  namespaceSelector: {
    matchLabels: { team: "a" },
    matchExpressions: [{ key: "stage", operator: "NotIn", values: ["test"] }],
  },
};

const WEB: EligibilityInput = {
  kind: "Deployment",
  labels: { [ENABLED]: "true" },
  annotations: { [SPOT_PERCENTAGE]: "70%" },
  namespace: { name: "shop", metadata: { labels: {}, annotations: {} } },
};

function reasonOf(changes: Partial<EligibilityInput>, scope = SCOPE): string {
  const answer = checkEligibility({ ...WEB, ...changes }, scope);
  return answer.spec === undefined ? answer.reason : "takes part";
}

function inNamespace(
  name: string,
  labels: Readonly<Record<string, string>> = {},
): EligibilityInput {
  return { ...WEB, namespace: { name, metadata: { labels, annotations: {} } } };
}

test("checkEligibility() gives the spec of a workload that takes part", () => {
  const spec = { spotPercentage: 70, minOnDemand: 0, paused: false };
  assert.deepEqual(checkEligibility(WEB, SCOPE), { spec });
  const window = { schedule: "0 2 * * *", durationMs: 1000 };
  assert.deepEqual(checkEligibility(WEB, { ...SCOPE, window }), { spec: { ...spec, window } });
});

test("checkEligibility() takes Deployments and StatefulSets", () => {
  assert.equal(reasonOf({ kind: "StatefulSet" }), "takes part");
  for (const kind of ["DaemonSet", "Job", "ReplicaSet", "Pod", "", "constructor"]) {
    assert.equal(reasonOf({ kind }), "KindNotPlaced", kind);
    assert.equal(isPlacedKind(kind), false);
  }
});

test("checkEligibility() protects the system's namespaces, whatever their labels", () => {
  for (const name of ["kube-system", "kube-public", "kube-node-lease", "coallocator"]) {
    assert.equal(reasonOf(inNamespace(name, { [ENABLED]: "true" })), "NamespaceProtected", name);
  }
  assert.equal(reasonOf(inNamespace("kube-system-2")), "takes part");
});

test("checkEligibility() applies the configured selector", () => {
  assert.equal(reasonOf(inNamespace("shop", { team: "a" }), TEAM_A), "takes part");
  const left = [{}, { team: "b" }, { team: "a", stage: "test" }];
  for (const labels of left) {
    assert.equal(reasonOf(inNamespace("shop", labels), TEAM_A), "NamespaceNotSelected");
  }
  const { matchExpressions } = TEAM_A.namespaceSelector ?? { matchExpressions: [] };
  const notTest = { ...SCOPE, namespaceSelector: { matchLabels: {}, matchExpressions } };
  assert.equal(reasonOf(inNamespace("shop"), notTest), "takes part");
  assert.equal(reasonOf({ namespace: { name: "shop" } }, notTest), "NamespaceNotSelected");
});

test("checkEligibility() distinguishes opted out, not enabled, not tuned and invalid", () => {
  assert.equal(reasonOf(inNamespace("shop", { [ENABLED]: "false" })), "NamespaceOptedOut");
  assert.equal(reasonOf({ labels: {} }), "PlacementOff");
  assert.equal(reasonOf({ annotations: {} }), "PlacementUntuned");
  const annotations = { [SPOT_PERCENTAGE]: "all", [PAUSED]: "yes" };
  const answer = checkEligibility({ ...WEB, annotations }, SCOPE);
  assert.ok(answer.spec === undefined);
  const { reason, message, faults = [] } = answer;
  assert.deepEqual([reason, message, faults.length], ["ConfigurationError", faults.join("; "), 2]);
  assert.match(message, /spot-percentage .*"all".*; .*paused .*"yes"/);
});

test("checkEligibility() reports annotations only where they count", () => {
  const misspelt = { annotations: { [SPOT_PERCENTAGE]: "all" } };
  assert.equal(reasonOf({ ...misspelt, kind: "Job" }), "KindNotPlaced");
  assert.equal(reasonOf({ ...inNamespace("kube-public"), ...misspelt }), "NamespaceProtected");
  assert.equal(reasonOf(misspelt, TEAM_A), "NamespaceNotSelected");
});
