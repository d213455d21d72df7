import assert from "node:assert/strict";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import {
  enforcedContainer,
  enforcedPod,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { ResizeCondition } from "../../api/pod.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "./resize_condition.ts";

const INFEASIBLE = { type: "PodResizePending", reason: "Infeasible", message: "no" } as const;

/** A kubelet 1.33 names no generation; the pod's requests were raised from 100 to 150 m. */
function reasonOf(
  condition: Partial<ResizeCondition>,
  { requests, limits, ...container }: ContainerFields = {},
): string {
  const app = enforcedContainer({
    ...container,
    requests: { cpu: 150, ...requests },
    limits: { cpu: 400, ...limits },
  });
  return resizeStatus(enforcedPod({
    metadata: { ...enforcedPod().metadata, generation: 3 },
    containers: [app],
    resizeConditions: [{ ...INFEASIBLE, ...condition }],
  })).reason;
}

pure("resizeStatus() knows why kubelets of 1.33 to 1.36 call a resize infeasible", () => {
  const guaranteed = "Resize is infeasible for Guaranteed Pods alongside";
  const messages = {
    [`${guaranteed} CPU Manager static policy`]: "StaticCPUManager",
    [`${guaranteed} CPU Manager policy "static"`]: "StaticCPUManager",
    [`${guaranteed} Memory Manager static policy`]: "StaticMemoryManager",
    [`${guaranteed} Memory Manager policy "Static"`]: "StaticMemoryManager",
    "In-place resize of containers with swap is not supported.": "SwapEnabled",
    "Node didn't have enough capacity: cpu, requested: 9000, capacity: 2000": "NodeCapacity",
    "In-place resize of static-pods is not supported": "StaticPod",
    "In-place pod resize is not supported on Windows": "WindowsPod",
    "In-place pod-level resources resize is not supported on Windows": "WindowsPod",
    "InPlacePodLevelResourcesVerticalScaling is disabled": "PodLevelResources",
    "In-place pod-level resources resize is not supported on this node": "PodLevelResources",
    "InPlacePodVerticalScaling is disabled": "KubeletTooOld",
    "In-place pod resize is not supported on this node": "KubeletTooOld",
    "a message of a later kubelet": "ResizeInfeasible",
  };
  for (const [message, reason] of Object.entries(messages)) {
    const pod = enforcedPod({
      containers: [enforcedContainer({ limits: { cpu: 400 } })],
      resizeConditions: [{ ...INFEASIBLE, message }],
    });
    assert.deepEqual(resizeStatus(pod), { reason, message });
    assert.ok(INFEASIBLE_REASONS.has(reason));
  }
  for (const reason of ["ResizeInProgress", "ResizeDeferred", "ResizeError", "Applied"]) {
    assert.ok(!INFEASIBLE_REASONS.has(reason));
  }
  // Of limits that are in force it says nothing.
  const inForce = enforcedPod({ resizeConditions: [INFEASIBLE] });
  assert.equal(resizeStatus(inForce).reason, "ResizeInProgress");
});

pure("resizeStatus() believes a condition without generation by the values", () => {
  const inForce = { applied: { requests: {}, limits: { cpu: 400 } } };
  const failing = { type: "PodResizeInProgress", reason: "Error" } as const;
  const memory = { requests: { memory: 64 }, allocated: { memory: 32 } };
  const rows: readonly (readonly [string, Partial<ResizeCondition>, ContainerFields?])[] = [
    ["ResizeInfeasible", {}, { allocated: { cpu: 100 } }],
    ["ResizeInfeasible", {}, { allocated: { cpu: 150 } }],
    ["ResizeInfeasible", {}],
    ["ResizeInProgress", {}, { ...inForce, allocated: { cpu: 150 } }],
    ["ResizeInfeasible", {}, { ...inForce, allocated: { cpu: 100 } }],
    ["ResizeInfeasible", {}, { ...inForce, ...memory }],
    // One in progress counts once its requests are allocated.
    ["ResizeError", failing, { allocated: { cpu: 150 } }],
    ["ResizeError", failing, { allocated: {} }],
    ["ResizeInProgress", failing, { allocated: { cpu: 100 } }],
    ["ResizeError", { ...failing, observedGeneration: 3 }, { allocated: { cpu: 100 } }],
  ];
  for (const [expected, condition, container] of rows) {
    assert.equal(reasonOf(condition, container), expected);
  }
});
