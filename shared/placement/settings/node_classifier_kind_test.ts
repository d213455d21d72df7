import assert from "node:assert/strict";
import { NODE_CLASS_PRESETS } from "../node_class_presets.ts";
import { nodeClassOf } from "../node_classes.ts";
import { nodeClassifierKind as kind } from "./node_classifier_kind.ts";

function read(value: unknown) {
  const text = JSON.stringify(value);
  const found = kind.parse(text);
  assert.ok(found, kind.explain?.(text));
  return found;
}

Deno.test({
  name: "nodeClassifierKind knows the presets, and what of them is said otherwise",
  permissions: "none",
  fn() {
    for (const preset of ["karpenter", "eks", "gke", "aks"] as const) {
      assert.deepEqual(kind.parse(preset), NODE_CLASS_PRESETS[preset]);
      assert.deepEqual(read({ preset }), NODE_CLASS_PRESETS[preset]);
    }
    const spotTolerations = [{ key: "spot", operator: "Exists" as const }];
    const { spot, "on-demand": onDemand } = read({ preset: "eks", spotTolerations });
    assert.deepEqual(spot, { ...NODE_CLASS_PRESETS.eks.spot, tolerations: spotTolerations });
    assert.deepEqual(onDemand, NODE_CLASS_PRESETS.eks["on-demand"]);
    assert.equal(kind.parse("azure"), undefined);
  },
});

Deno.test({
  name: "nodeClassifierKind reads Spotalis' lists, of which one is enough, and its two texts",
  permissions: "none",
  fn() {
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
  },
});

Deno.test({
  name: "nodeClassifierKind names what does not fit, by the keys of the setting",
  permissions: "none",
  fn() {
    const spotLabels = [{ matchLabels: { a: "b" } }];
    const faults: readonly (readonly [value: unknown, fault: RegExp])[] = [
      [{ spotLabels }, /^must .* preset, .* spotLabels and onDemandLabels$/],
      [{}, /^must .* preset, .* spotLabels and onDemandLabels$/],
      [{ presett: "eks" }, /^presett .*; must .* preset, /],
      [
        { spotLabels, onDemandLabels: spotLabels },
        /^onDemandLabels\[0\] .* not select .*spotLabels select$/,
      ],
      [
        { spotLabels, onDemandLabels: [] },
        /^onDemandLabels .* at least .*spotTolerations .*no taint /,
      ],
      [{ spot: "a=b", onDemand: "a=b" }, /^onDemand\[0\] .* not select .*spot select$/],
      [{ spot: "a", onDemand: "a=b" }, /^spot is "a": .*class=spot$/],
      [
        { preset: "eks", spotTolerations: [{ operator: "Any" }] },
        /^spotTolerations\[0\]\.operator is "Any": .*Exists, Equal$/,
      ],
    ];
    for (const [value, fault] of faults) {
      const text = JSON.stringify(value);
      assert.equal(kind.parse(text), undefined, text);
      assert.match(kind.explain?.(text) ?? "", fault);
    }
  },
});
