import assert from "node:assert/strict";
import { sentNodeBounds } from "./sent_node_bounds.ts";

Deno.test("sentNodeBounds() reads the required node affinity", () => {
  const expression = { key: "zone", operator: "In", values: ["a", "b"] };
  const field = { key: "metadata.name", operator: "In", values: ["n1"] };
  const nodeSelectorTerms = [
    { matchExpressions: [expression, { key: "x", operator: "Exists" }] },
    { matchFields: [field] },
  ];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const spec = { affinity: { nodeAffinity: required } };
  assert.deepEqual(sentNodeBounds({ spec }), [{
    what: "its node affinity",
    terms: [[expression, { key: "x", operator: "Exists", values: [] }], [{
      ...field,
      key: "kubernetes.io/hostname",
    }]],
  }]);
});

Deno.test("sentNodeBounds() finds none where nothing is required", () => {
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
  for (const affinity of [undefined, null, {}, { nodeAffinity: preferred }]) {
    assert.deepEqual(sentNodeBounds({ spec: { affinity } }), []);
  }
});

Deno.test("sentNodeBounds() reads the host that a node selector names", () => {
  const spec = { nodeSelector: { zone: "a", "kubernetes.io/hostname": "n1" } };
  const host = { key: "kubernetes.io/hostname", operator: "In", values: ["n1"] };
  assert.deepEqual(sentNodeBounds({ spec }), [
    { what: "its node selector", terms: [[host]], selector: true },
  ]);
  assert.deepEqual(sentNodeBounds({ spec: { nodeSelector: { zone: "a" } } }), []);
});
