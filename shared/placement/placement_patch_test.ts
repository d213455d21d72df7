import assert from "node:assert/strict";
import { applyJSONPatch } from "../admission/json_patch.ts";
import type { NodeClass } from "./node_class.ts";
import { NODE_CLASS_PRESETS } from "./node_class_presets.ts";
import type { NodeClasses } from "./node_classes.ts";
import { placementPatch } from "./placement_patch.ts";

const { karpenter, gke } = NODE_CLASS_PRESETS;
const TYPE = "karpenter.sh/capacity-type";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function placed(
  pod: Record<string, unknown>,
  to: NodeClass,
  { classes = karpenter, deletionCost }: {
    readonly classes?: NodeClasses;
    readonly deletionCost?: number;
  } = {},
): unknown {
  const once = applyJSONPatch(pod, placementPatch(pod, { to, classes, deletionCost }));
  // A server may ask again about what it was answered.
  const again = placementPatch(once as Record<string, unknown>, { to, classes, deletionCost });
  assert.deepEqual(again, []);
  return once;
}

test("placementPatch() makes what a bare pod lacks", () => {
  assert.deepEqual(placed({ metadata: {}, spec: {} }, "spot", { deletionCost: -2 }), {
    metadata: {
      labels: { "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: { nodeSelector: { [TYPE]: "spot" } },
  });
});

test("placementPatch() replaces what the pod says of capacity, and keeps all else", () => {
  const spot = { key: "cloud.google.com/gke-spot", operator: "Equal", value: "true" };
  const own = { key: "own", operator: "Exists" };
  const pod = {
    metadata: { labels: { app: "web", "spotalis.io/capacity": "spot" }, annotations: { a: "b" } },
    spec: {
      nodeSelector: { disk: "ssd", "cloud.google.com/gke-spot": "true" },
      tolerations: [{ ...spot, effect: "NoSchedule" }, own],
      containers: [],
    },
  };
  assert.deepEqual(placed(pod, "on-demand", { classes: gke, deletionCost: -1 }), {
    metadata: {
      labels: { app: "web", "spotalis.io/capacity": "on-demand" },
      annotations: { a: "b", "controller.kubernetes.io/pod-deletion-cost": "-1" },
    },
    spec: {
      nodeSelector: { disk: "ssd", "cloud.google.com/gke-provisioning": "standard" },
      tolerations: [own],
      containers: [],
    },
  });
});

test("placementPatch() takes null for absent, and has no cost where there is none", () => {
  const pod = {
    metadata: { labels: null, annotations: null },
    spec: { nodeSelector: null, tolerations: null },
  };
  assert.deepEqual(placed(pod, "spot", { classes: gke }), {
    metadata: { labels: { "spotalis.io/capacity": "spot" }, annotations: null },
    spec: {
      nodeSelector: { "cloud.google.com/gke-spot": "true" },
      tolerations: gke.spot.tolerations,
    },
  });
});

test("placementPatch() refuses what is no pod", () => {
  assert.throws(() => placementPatch({ metadata: {} }, { to: "spot", classes: karpenter }), {
    name: "TypeError",
    message: /^Cannot place/,
  });
});
