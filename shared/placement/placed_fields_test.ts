import assert from "node:assert/strict";
import { DEFAULT_PRESET, NODE_CLASS_PRESETS } from "./node_class_presets.ts";
import { placedFields } from "./placed_fields.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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
