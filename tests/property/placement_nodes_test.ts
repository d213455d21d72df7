/**
 * Properties of node classes: what is written to pods leads to nodes that are read as of that class.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import {
  capacityKeys,
  NODE_CLASS_PRESETS,
  type NodeClass,
  type NodeClasses,
  nodeClassesFaults,
  nodeClassOf,
} from "../../shared/placement/node_classes.ts";
import { placedFields } from "../../shared/placement/new_pod.ts";

const anyKey = fc.constantFrom("pool", "type", "cloud.google.com/gke-spot", "disk", "__proto__");
const anyValue = fc.constantFrom("spot", "steady", "true", "ssd");
const anyLabels = fc.dictionary(anyKey, anyValue, { maxKeys: 3 });
const anySelector = fc.record({
  matchLabels: fc.dictionary(anyKey, anyValue, { minKeys: 1, maxKeys: 2 }),
  matchExpressions: fc.array(
    fc.record({
      key: anyKey,
      operator: fc.constantFrom("In" as const, "NotIn" as const),
      values: fc.array(anyValue, { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 1 },
  ),
});
const anyToleration = fc.record({
  key: anyKey,
  operator: fc.constantFrom("Exists" as const, "Equal" as const),
  effect: fc.constantFrom("NoSchedule" as const, "NoExecute" as const),
});
const anyNodes = fc.record({
  selectors: fc.array(anySelector, { maxLength: 3 }),
  tolerations: fc.array(anyToleration, { maxLength: 2 }),
});
const anyClasses: fc.Arbitrary<NodeClasses> = fc.oneof(
  fc.constantFrom(...Object.values(NODE_CLASS_PRESETS)),
  fc.record({ spot: anyNodes, "on-demand": anyNodes })
    .filter((classes) => nodeClassesFaults(classes).length === 0),
);
const anyClass: fc.Arbitrary<NodeClass> = fc.constantFrom("spot", "on-demand");
const anyPod = fc.record({
  nodeSelector: anyLabels,
  tolerations: fc.array(anyToleration, { maxLength: 3 }),
  labels: anyLabels,
});

pure(
  "placedFields() leads to nodes of the class, keeps what is not capacity, and settles at once",
  () => {
    fc.assert(
      fc.property(anyPod, anyClass, anyClasses, (pod, to, classes) => {
        const placed = placedFields(pod, { to, classes });
        const capacity = capacityKeys(classes);
        // A node that has what the selector asks of capacity, and no more of it.
        const asked = Object.entries(placed.nodeSelector).filter(([key]) => capacity.has(key));
        assert.equal(nodeClassOf(Object.fromEntries(asked), classes), to);
        for (const [key, value] of Object.entries(pod.nodeSelector)) {
          if (!capacity.has(key)) assert.equal(placed.nodeSelector[key], value);
        }
        for (const one of classes[to].tolerations) assert.ok(placed.tolerations.includes(one));
        assert.equal(placed.labels[CAPACITY], to);
        assert.deepEqual(placedFields(placed, { to, classes }), placed);
        const other: NodeClass = to === "spot" ? "on-demand" : "spot";
        const moved = placedFields(placed, { to: other, classes });
        assert.deepEqual(
          moved.nodeSelector,
          placedFields(pod, { to: other, classes }).nodeSelector,
        );
      }),
    );
  },
);
