import assert from "node:assert/strict";
import { NODE_CLASS_PRESETS } from "./node_class_presets.ts";
import { type NodeClasses, nodeClassesFaults, nodeClassOf, selectorOf } from "./node_classes.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { karpenter, gke, aks } = NODE_CLASS_PRESETS;

test("nodeClassOf() takes one of several selectors, and unknown nodes for on-demand", () => {
  assert.equal(nodeClassOf({ "karpenter.sh/capacity-type": "spot" }, karpenter), "spot");
  for (const type of ["on-demand", "reserved", "Spot", ""]) {
    assert.equal(nodeClassOf({ "karpenter.sh/capacity-type": type }, karpenter), "on-demand");
  }
  assert.equal(nodeClassOf({}, karpenter), "on-demand");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-spot": "true" }, gke), "spot");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-provisioning": "spot" }, gke), "spot");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-preemptible": "true" }, gke), "spot");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-provisioning": "standard" }, gke), "on-demand");
  assert.equal(nodeClassOf({ "kubernetes.azure.com/scalesetpriority": "spot" }, aks), "spot");
});

test("nodeClassesFaults() has nothing against the presets, whose pods go where nodes are read", () => {
  for (const [name, preset] of Object.entries(NODE_CLASS_PRESETS)) {
    assert.deepEqual(nodeClassesFaults(preset), [], name);
    for (const one of ["spot", "on-demand"] as const) {
      assert.equal(nodeClassOf(selectorOf(one, preset), preset), one, name);
    }
  }
});

test("nodeClassesFaults() names what can't be used", () => {
  const label = (matchLabels: Readonly<Record<string, string>>) => ({
    matchLabels,
    matchExpressions: [],
  });
  const exists = {
    matchLabels: {},
    matchExpressions: [{ key: "spot", operator: "Exists" as const, values: [] }],
  };
  const nodes = (...selectors: NodeClasses["spot"]["selectors"]) => ({
    selectors,
    tolerations: [],
  });
  const faultsOf = (spot: NodeClasses["spot"], onDemand: NodeClasses["spot"]): string =>
    nodeClassesFaults({ spot, "on-demand": onDemand }).join("; ");
  const steady = nodes(label({ pool: "steady" }));
  assert.equal(faultsOf(nodes(label({ pool: "spot" }), exists), steady), "");
  assert.match(faultsOf(nodes(), steady), /^spot\.selectors must name/);
  assert.match(
    faultsOf(nodes(exists), steady),
    /^spot\.selectors\[0\] must have matchLabels alone/,
  );
  assert.match(
    faultsOf(nodes(label({ pool: "spot" })), nodes()),
    /^on-demand\.selectors must name/,
  );
  assert.match(
    faultsOf(nodes(label({ pool: "spot" })), nodes(label({ pool: "spot", zone: "a" }))),
    /^on-demand\.selectors\[0\] must not select/,
  );
  // Spot nodes have all labels of steady ones.
  const spot = nodes(label({ pool: "steady", spot: "true" }));
  assert.match(faultsOf(spot, steady), /^on-demand\.selectors\[0\] must not select/);
  assert.equal(faultsOf({ ...spot, tolerations: [{ key: "spot" }] }, steady), "");
});
