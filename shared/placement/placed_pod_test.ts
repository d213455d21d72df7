import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { NODE_CLASS_PRESETS } from "./node_classes.ts";
import { classifyPod, countByClass, runningByClass, waitingByClass } from "./placed_pod.ts";

const NODE = sampleNode("node-1");

Deno.test("classifyPod() takes the class from the node, then from the selector, then from the label", () => {
  const { karpenter, aks } = NODE_CLASS_PRESETS;
  const spot = { ...NODE, labels: { "karpenter.sh/capacity-type": "spot" } };
  const rows = [
    ["spot", spot, undefined, undefined],
    ["on-demand", NODE, "spot", "spot"],
    ["spot", undefined, "spot", "on-demand"],
    ["on-demand", undefined, "on-demand", "spot"],
    ["spot", undefined, undefined, "spot"],
    ["on-demand", undefined, undefined, "none"],
    ["on-demand", undefined, undefined, undefined],
    ["on-demand", undefined, undefined, "on-demand", aks],
    ["spot", undefined, undefined, "spot", aks],
  ] as const;
  for (const [expected, node, type, label, classes = karpenter] of rows) {
    const nodeSelector = type === undefined ? {} : { "karpenter.sh/capacity-type": type };
    const pod = { ...samplePod("a"), nodeSelector };
    const labels = label === undefined ? {} : { "spotalis.io/capacity": label };
    const labelled = { ...pod, metadata: { ...pod.metadata, labels } };
    const found = classifyPod(labelled, {
      ...PLACEMENT_DEFAULTS,
      nodeClassifier: classes,
      node,
      evicted: false,
    });
    assert.equal(found.class, expected, JSON.stringify([node?.labels, type, label]));
  }
});

Deno.test("runningByClass(), waitingByClass() and countByClass() count pods", () => {
  const departs = { gone: true, departs: "taint spot-itn" };
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 2 }, { ready: false }),
    ...placedPods({ spot: 1, "on-demand": 4 }, { scheduled: false }),
    ...placedPods({ spot: 4 }, { gone: true }),
    ...placedPods({ spot: 4 }, departs),
  ];
  assert.deepEqual(runningByClass(pods), { spot: 3, "on-demand": 2 });
  assert.deepEqual(waitingByClass(pods), { spot: 1, "on-demand": 4 });
  assert.deepEqual(countByClass(pods), { spot: 12, "on-demand": 6 });
  // A pod on a drained node still runs.
  const drained = placedPods({ "on-demand": 3 }, { ...departs, drained: true });
  assert.deepEqual(runningByClass([...pods, ...drained]), { spot: 3, "on-demand": 5 });
});
