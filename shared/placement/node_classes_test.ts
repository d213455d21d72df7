import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { refusalOf, valueOf } from "../config/kinds.ts";
import {
  NODE_CLASS_PRESETS,
  type NodeClasses,
  nodeClassesFaults,
  nodeClassifierKind,
  nodeClassOf,
  selectorOf,
} from "./node_classes.ts";

const { karpenter, gke, aks } = NODE_CLASS_PRESETS;

pure("nodeClassOf() takes one of several selectors, and unknown nodes for on-demand", () => {
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

pure("nodeClassesFaults() accepts the presets, with pods that go to nodes of their class", () => {
  for (const [name, preset] of Object.entries(NODE_CLASS_PRESETS)) {
    assert.deepEqual(nodeClassesFaults(preset), [], name);
    for (const one of ["spot", "on-demand"] as const) {
      assert.equal(nodeClassOf(selectorOf(one, preset), preset), one, name);
    }
  }
});

pure("nodeClassesFaults() has faults of selectors that select the same nodes", () => {
  const nodes = (matchLabels: Readonly<Record<string, string>>, key?: string) => ({
    selectors: [{ matchLabels, matchExpressions: [] }],
    tolerations: key === undefined ? [] : [{ key }],
  });
  const faultsOf = (spot: NodeClasses["spot"], onDemand: NodeClasses["spot"]) =>
    nodeClassesFaults({ spot, "on-demand": onDemand }).length;
  const steady = nodes({ pool: "steady" });
  assert.equal(faultsOf(nodes({ pool: "spot" }), steady), 0);
  assert.equal(faultsOf(nodes({ pool: "spot" }), nodes({ pool: "spot", zone: "a" })), 1);
  // Spot nodes have all labels of steady ones, so only a taint keeps other pods off.
  const labels = { pool: "steady", spot: "true" };
  assert.equal(faultsOf(nodes(labels), steady), 1);
  assert.equal(faultsOf(nodes(labels, "spot"), steady), 0);
  const [first] = nodes({ pool: "spot" }).selectors;
  const exists = {
    matchLabels: {},
    matchExpressions: [{ key: "a", operator: "Exists", values: [] }],
  };
  const spot = { selectors: [first, exists], tolerations: [] } as NodeClasses["spot"];
  assert.equal(faultsOf(spot, steady), 0);
  assert.equal(faultsOf({ ...spot, selectors: spot.selectors.toReversed() }, steady), 1);
});

function read(value: unknown) {
  const text = JSON.stringify(value);
  const found = valueOf(nodeClassifierKind, text);
  assert.ok(found, refusalOf(nodeClassifierKind, text));
  return found;
}

pure("nodeClassifierKind parses presets, and overrides of them", () => {
  for (const preset of ["karpenter", "eks", "gke", "aks"] as const) {
    assert.deepEqual(valueOf(nodeClassifierKind, preset), NODE_CLASS_PRESETS[preset]);
    assert.deepEqual(read({ preset }), NODE_CLASS_PRESETS[preset]);
  }
  const spotTolerations = [{ key: "spot", operator: "Exists" as const }];
  const { spot, "on-demand": onDemand } = read({ preset: "eks", spotTolerations });
  assert.deepEqual(spot, { ...NODE_CLASS_PRESETS.eks.spot, tolerations: spotTolerations });
  assert.deepEqual(onDemand, NODE_CLASS_PRESETS.eks["on-demand"]);
  assert.equal(valueOf(nodeClassifierKind, "azure"), undefined);
});

pure("nodeClassifierKind parses Spotalis' lists, and its two texts", () => {
  const classes = read({
    spotLabels: [
      { matchLabels: { lifecycle: "spot" } },
      { matchExpressions: [{ key: "pool", operator: "In", values: ["cheap"] }] },
    ],
    onDemandLabels: [{ matchLabels: { lifecycle: "normal" } }],
  });
  const classesOf = [{ lifecycle: "spot" }, { pool: "cheap" }, { lifecycle: "normal" }].map(
    (labels) => nodeClassOf(labels, classes),
  );
  assert.deepEqual(classesOf, ["spot", "spot", "on-demand"]);
  assert.deepEqual(
    read({
      spot: "karpenter.sh/capacity-type=spot",
      onDemand: "karpenter.sh/capacity-type=on-demand",
    }),
    NODE_CLASS_PRESETS.karpenter,
  );
});

pure("nodeClassifierKind explains faults by the keys of the setting", () => {
  const spotLabels = [{ matchLabels: { a: "b" } }];
  const faults: readonly (readonly [value: unknown, fault: RegExp])[] = [
    [{ spotLabels }, /^must .* preset, .* spotLabels and onDemandLabels$/],
    [{}, /^must .* preset, .* spotLabels and onDemandLabels$/],
    [
      { spotLabels, onDemandLabels: spotLabels },
      /^onDemandLabels\[0\] .* not select .*spotLabels select$/,
    ],
    [
      { preset: "eks", spotTolerations: [{ operator: "Any" }] },
      /^spotTolerations\[0\]\.operator is "Any": .*Exists, Equal$/,
    ],
  ];
  for (const [value, fault] of faults) {
    const text = JSON.stringify(value);
    assert.equal(valueOf(nodeClassifierKind, text), undefined, text);
    assert.match(refusalOf(nodeClassifierKind, text) ?? "", fault);
  }
});
