import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import type { QuotaBid } from "./quota_bids.ts";
import { type PodUse, podUseOf } from "./pod_use.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function podOf(containers: readonly PodContainer[], change: Partial<Pod> = {}): Pod {
  const pod = samplePod("a", { containers });
  return { ...pod, phase: "Running", metadata: { ...pod.metadata, uid: "a" }, ...change };
}

function limited(limitCPU: number, change: Partial<Pod> = {}): Pod {
  return podOf([sampleContainer({ limits: { cpu: limitCPU } })], change);
}

interface Choice {
  readonly held?: ContainerBounds["held"];
  /** @default {none is published} */
  readonly ceiling?: number;
}

/** Its original limit and request is 200 m. */
function allocationOf(pod: Pod, { held, ceiling }: Choice = {}): PodAllocation {
  const own = [{ name: "app", cpu: "200m" }];
  const app = { name: "app", containerID: "c", floor: 100, ceiling: ceiling ?? 0, weight: 1 };
  const containers = [held === undefined ? app : { ...app, held }];
  const bounds = { revision: 1, reason: "", containers };
  return {
    ...sampleAllocation(pod),
    status: {
      originalLimits: own,
      originalRequests: own,
      ...(ceiling === undefined && held === undefined ? {} : { bounds }),
    },
  };
}

function useOf(
  pod: Pod,
  allocation: PodAllocation | undefined = undefined,
  { bids = [] }: { readonly bids?: readonly QuotaBid[] } = {},
): PodUse | undefined {
  return podUseOf(pod, { allocation, bids });
}

test("podUseOf() sums limits and requests, containers without any for nothing", () => {
  const free = { ...sampleContainer({ name: "free" }), limits: {} };
  const pod = podOf([
    sampleContainer(),
    free,
    sampleContainer({ name: "b", limits: { cpu: 250 } }),
  ]);
  const { limits, requests, originalLimits, ownRequests } = useOf(pod) ?? {};
  assert.deepEqual([limits, requests, originalLimits, ownRequests], [450, 300, 450, 300]);
});

test("podUseOf() knows nothing of a pod that has ended", () => {
  for (const phase of ["Succeeded", "Failed"] as const) {
    assert.equal(useOf(limited(4000, { phase })), undefined);
  }
  assert.equal(useOf(limited(4000, { phase: "Pending" }))?.limits, 4000);
});

test("podUseOf() reports the user's own values from raised ones, requests where those move", () => {
  const of = (pod: Pod) => {
    const { originalLimits, ownRequests, moves } = useOf(pod, allocationOf(pod)) ?? {};
    return [originalLimits, ownRequests, moves];
  };
  assert.deepEqual(of(limited(800)), [200, 100, false]);
  const fixed = podOf([sampleGuaranteed({ requests: { cpu: 900 }, limits: { cpu: 900 } })]);
  assert.deepEqual(of(fixed), [200, 200, true]);
});

test("podUseOf() finds what limits are above their ceilings, where that may be taken back", () => {
  const raiseOf = (limitCPU: number, choice: Choice = {}, change: Partial<Pod> = {}) => {
    const pod = limited(limitCPU, change);
    return useOf(pod, allocationOf(pod, choice))?.raise;
  };
  assert.equal(raiseOf(500), 300);
  assert.equal(raiseOf(150), 0);
  assert.deepEqual([raiseOf(500, { ceiling: 450 }), raiseOf(500, { ceiling: 600 })], [50, 0]);
  // Original limits are never taken back.
  assert.equal(raiseOf(500, { ceiling: 100 }), 300);
  for (const held of ["half", "lower"] as const) assert.equal(raiseOf(500, { held }), 300);
  assert.equal(raiseOf(500, { held: "both" }), 0);
  assert.equal(raiseOf(500, {}, { priorityClassName: "system-node-critical" }), 0);
  assert.equal(raiseOf(500, {}, { priorityClassName: "high" }), 300);
  const { metadata } = limited(500);
  assert.equal(raiseOf(500, {}, { metadata: { ...metadata, terminating: true } }), 0);
  assert.equal(useOf(limited(500))?.raise, 0);
});

test("podUseOf() finds what quotas count beside the bids", () => {
  const fixed = (limitCPU: number, change: Partial<Pod> = {}, floor = 200) => {
    const pod = limited(limitCPU, change);
    const bids = [{ name: "app", weight: 1, floor, ceiling: 800 }];
    const use = useOf(pod, allocationOf(pod), { bids });
    return [use?.fixedLimits, use?.fixedRequests];
  };
  // The same, whatever the limit is now.
  assert.deepEqual([fixed(200), fixed(700)], [[0, 100], [0, 100]]);
  assert.deepEqual(fixed(700, { overheadCPU: 50 }), [50, 150]);
  const initContainers = [
    sampleContainer({ name: "prepare", requests: { cpu: 10 }, limits: { cpu: 350 } }),
  ];
  assert.deepEqual(fixed(700, { initContainers }), [150, 100]);
  const guaranteed = podOf([sampleGuaranteed({ requests: { cpu: 900 }, limits: { cpu: 900 } })]);
  const bids = [{ name: "app", weight: 1, floor: 200, ceiling: 800 }];
  const use = useOf(guaranteed, allocationOf(guaranteed), { bids });
  assert.deepEqual([use?.fixedLimits, use?.fixedRequests], [0, 0]);
  assert.equal(useOf(limited(700))?.fixedLimits, 700);
});

test("podUseOf() counts as the server's quota does: init containers, the pod's own resources, overhead", () => {
  const init = (limitCPU: number, requestCPU = 10) => ({
    initContainers: [
      sampleContainer({
        name: "prepare",
        requests: { cpu: requestCPU },
        limits: { cpu: limitCPU },
      }),
    ],
  });
  const of = (limitCPU: number, change: Partial<Pod>): readonly unknown[] => {
    const pod = limited(limitCPU, change);
    const use = useOf(pod, allocationOf(pod));
    return [use?.limits, use?.originalLimits, use?.raise, use?.requests, use?.ownRequests];
  };
  assert.deepEqual(of(500, {}), [500, 200, 300, 100, 100]);
  // What the init container takes in any case can't be given back.
  assert.deepEqual(of(500, init(350, 300)), [500, 350, 150, 300, 300]);
  assert.deepEqual(of(500, init(2000)), [2000, 2000, 0, 100, 100]);
  const podLevel = { requests: { cpu: 400 }, limits: { cpu: 600 } };
  assert.deepEqual(of(500, { podLevel }), [600, 600, 0, 400, 400]);
  assert.deepEqual(of(500, { overheadCPU: 50 }), [550, 250, 300, 150, 150]);
  const free = { ...sampleContainer(), limits: {} };
  const { limits, requests } = useOf(podOf([free], { overheadCPU: 50 })) ?? {};
  assert.deepEqual([limits, requests], [0, 150]);
});

test("podUseOf() counts a sidecar beside the init containers that start after it", () => {
  const of = (sidecarsBefore?: number): number | undefined => {
    const order = sidecarsBefore === undefined ? {} : { sidecarsBefore };
    const initContainers = [sampleContainer({ name: "prepare", limits: { cpu: 400 }, ...order })];
    const sidecar = sampleContainer({ name: "proxy", sidecar: true, limits: { cpu: 150 } });
    return useOf(podOf([sampleContainer(), sidecar], { initContainers }))?.limits;
  };
  assert.deepEqual([of(), of(1)], [400, 550]);
});
