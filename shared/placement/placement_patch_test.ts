import assert from "node:assert/strict";
import { applyJSONPatch } from "../admission/json_patch.ts";
import {
  DEFAULT_PRESET,
  NODE_CLASS_PRESETS,
  type NodeClass,
  type NodeClasses,
} from "./node_classes.ts";
import { placedFields, placementPatch } from "./placement_patch.ts";

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

const BARE = { nodeSelector: {}, tolerations: [], labels: { app: "web" } } as const;
const SPOT_TAINT = {
  key: "kubernetes.azure.com/scalesetpriority",
  operator: "Equal",
  value: "spot",
  effect: "NoSchedule",
} as const;

test("placedFields() writes selector, tolerations and label of the class", () => {
  assert.deepEqual(
    placedFields(BARE, { to: "spot", classes: NODE_CLASS_PRESETS[DEFAULT_PRESET] }),
    {
      nodeSelector: { "karpenter.sh/capacity-type": "spot" },
      tolerations: [],
      labels: { app: "web", "spotalis.io/capacity": "spot" },
    },
  );
  assert.deepEqual(placedFields(BARE, { to: "spot", classes: NODE_CLASS_PRESETS.aks }), {
    nodeSelector: { "kubernetes.azure.com/scalesetpriority": "spot" },
    tolerations: [SPOT_TAINT],
    labels: { app: "web", "spotalis.io/capacity": "spot" },
  });
});

test("placedFields() replaces what the pod says of capacity, and keeps the rest", () => {
  const pod = {
    nodeSelector: { "cloud.google.com/gke-spot": "true", disk: "ssd" },
    tolerations: [{ key: "dedicated", operator: "Exists" }],
    labels: { "spotalis.io/capacity": "spot" },
  } as const;
  assert.deepEqual(placedFields(pod, { to: "on-demand", classes: NODE_CLASS_PRESETS.gke }), {
    nodeSelector: { disk: "ssd", "cloud.google.com/gke-provisioning": "standard" },
    tolerations: [{ key: "dedicated", operator: "Exists" }],
    labels: { "spotalis.io/capacity": "on-demand" },
  });
});

test("placedFields() takes the toleration of spot from on-demand pods, which only the taint keeps away", () => {
  const { operator: _, ...implied } = SPOT_TAINT;
  const pod = { ...BARE, tolerations: [implied, { ...SPOT_TAINT, effect: "NoExecute" as const }] };
  assert.deepEqual(
    placedFields(pod, { to: "on-demand", classes: NODE_CLASS_PRESETS.aks }).tolerations,
    [{ ...SPOT_TAINT, effect: "NoExecute" }],
  );
  // In whatever words, as long as they are of the spot taint alone.
  const { key } = SPOT_TAINT;
  const others = [
    { key: "dedicated", operator: "Exists" },
    { key, operator: "Equal", value: "batch" },
    { operator: "Exists" },
  ] as const;
  const tolerations = [{ key, operator: "Exists" }, { key, value: "spot" }, ...others] as const;
  assert.deepEqual(
    placedFields({ ...BARE, tolerations }, { to: "on-demand", classes: NODE_CLASS_PRESETS.aks })
      .tolerations,
    others,
  );
});
