import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketClaim,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import type { Pod, ResizeCondition } from "../../api/pod.ts";
import { decide, MARKET_CHAIN } from "../chain.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "./resize_condition.ts";
import type { EnforcementInput } from "./resize_input.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function heldBy(fields: Partial<EnforcementInput>, chain = MARKET_CHAIN): string {
  const { changes, by, reason } = decide(chain, enforcementInput(fields));
  assert.deepEqual(changes, []);
  return `${by} ${reason}`;
}

test("decide() goes on when the kubelet reports an error, as ResizeError", () => {
  const condition = { type: "PodResizeInProgress", reason: "Error", message: "cgroup is busy" };
  const failing = enforcedPod({
    containers: [enforcedContainer({ limits: { cpu: 400 } })],
    resizeConditions: [{ ...condition, type: "PodResizeInProgress" }],
  });
  assert.equal(heldBy({ pod: failing }), "AlreadyThere ResizeError");
  const claims = [marketClaim(300)];
  assert.equal(decide(MARKET_CHAIN, enforcementInput({ pod: failing, claims })).changes.length, 1);
});

test("decide() passes over what the kubelet said of an older resize", () => {
  const { metadata } = enforcedPod();
  const said = (observedGeneration: number): Pod =>
    enforcedPod({
      metadata: { ...metadata, generation: 3 },
      containers: [enforcedContainer({ limits: { cpu: 400 } })],
      resizeConditions: [{
        type: "PodResizePending",
        reason: "Infeasible",
        message: "no",
        observedGeneration,
      }],
    });
  assert.equal(heldBy({ pod: said(3) }), "AlreadyThere ResizeInfeasible");
  assert.equal(heldBy({ pod: said(2) }), "AlreadyThere ResizeInProgress");
});

const INFEASIBLE = { type: "PodResizePending", reason: "Infeasible" } as const;

test("resizeStatus() knows why kubelets of 1.33 to 1.36 call a resize infeasible", () => {
  const cases = [
    ["Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy", "CPU"],
    ['Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"', "CPU"],
    ["Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy", "Memory"],
    ['Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"', "Memory"],
  ] as const;
  const applied = (message: string) =>
    resizeStatus(enforcedPod({ resizeConditions: [{ ...INFEASIBLE, message }] }));
  const stuck = (message: string) => {
    const containers = [enforcedContainer({ limits: { cpu: 400 } })];
    const pod = enforcedPod({ containers, resizeConditions: [{ ...INFEASIBLE, message }] });
    return resizeStatus(pod);
  };
  for (const [message, manager] of cases) {
    assert.deepEqual(stuck(message), { reason: `Static${manager}Manager`, message });
  }
  const others = {
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
  for (const [message, reason] of Object.entries(others)) {
    assert.deepEqual(stuck(message), { reason, message });
    assert.ok(INFEASIBLE_REASONS.has(reason));
  }
  for (const reason of ["ResizeInProgress", "ResizeDeferred", "ResizeError", "Applied"]) {
    assert.ok(!INFEASIBLE_REASONS.has(reason));
  }
  assert.equal(applied("of limits that are in force").reason, "ResizeInProgress");
});

/** A kubelet 1.33 names no generation; the pod's requests were raised from 100 to 150 m. */
function unnumbered(
  condition: Partial<ResizeCondition>,
  container: ContainerFields = {},
): string {
  return resizeStatus(enforcedPod({
    metadata: { ...enforcedPod().metadata, generation: 3 },
    containers: [
      enforcedContainer({
        ...container,
        requests: { cpu: 150, ...container.requests },
        limits: { cpu: 400, ...container.limits },
      }),
    ],
    resizeConditions: [{ ...INFEASIBLE, message: "no", ...condition }],
  })).reason;
}

test("resizeStatus() believes a pending resize without a generation until all of it is in force", () => {
  assert.equal(unnumbered({}, { allocated: { cpu: 100 } }), "ResizeInfeasible");
  assert.equal(unnumbered({}, { allocated: { cpu: 150 } }), "ResizeInfeasible");
  assert.equal(unnumbered({}), "ResizeInfeasible");
  const inForce = { applied: { requests: {}, limits: { cpu: 400 } } };
  assert.equal(unnumbered({}, { ...inForce, allocated: { cpu: 150 } }), "ResizeInProgress");
  assert.equal(unnumbered({}, { ...inForce, allocated: { cpu: 100 } }), "ResizeInfeasible");
  const memory = { requests: { memory: 64 }, limits: {}, allocated: { memory: 32 } };
  assert.equal(unnumbered({}, { ...inForce, ...memory }), "ResizeInfeasible");
});

test("resizeStatus() believes a resize in progress without a generation once it is allocated", () => {
  const failing = { type: "PodResizeInProgress", reason: "Error" } as const;
  assert.equal(unnumbered(failing, { allocated: { cpu: 150 } }), "ResizeError");
  assert.equal(unnumbered(failing, { allocated: {} }), "ResizeError");
  assert.equal(unnumbered(failing, { allocated: { cpu: 100 } }), "ResizeInProgress");
  const numbered = { ...failing, observedGeneration: 3 };
  assert.equal(unnumbered(numbered, { allocated: { cpu: 100 } }), "ResizeError");
});
