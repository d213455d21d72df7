import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { podUseOf } from "./pod_use.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function podOf(containers: readonly PodContainer[], change: Partial<Pod> = {}): Pod {
  const pod = samplePod("a", { containers });
  return { ...pod, phase: "Running", metadata: { ...pod.metadata, uid: "a" }, ...change };
}

function limited(limitCPU: number, change: Partial<Pod> = {}): Pod {
  return podOf([sampleContainer({ limitCPU })], change);
}

interface Choice {
  readonly held?: ContainerBounds["held"];
  readonly need?: number;
  readonly podUID?: string;
}

/** Its own limit and request is 200 m, its ceiling 800 m. */
function allocationOf(pod: Pod, { held, need = 0, podUID = "a" }: Choice = {}): PodAllocation {
  const app = { name: "app", containerID: "c", floor: 100, ceiling: 800, weight: 1 };
  const { market, ...desired } = sampleDesired("200m");
  assert.ok(market);
  const { spec, ...rest } = sampleAllocation(pod);
  const own = [{ name: "app", cpu: "200m" }];
  return {
    ...rest,
    spec: { ...spec, ...desired, podUID, market: { ...market, need } },
    status: {
      originalLimits: own,
      originalRequests: own,
      bounds: {
        revision: 1,
        reason: "",
        containers: [held === undefined ? app : { ...app, held }],
      },
    },
  };
}

test("podUseOf() sums limits and requests, containers without any for nothing", () => {
  const { limitCPU: _none, ...free } = sampleContainer({ name: "free" });
  const pod = podOf([sampleContainer(), free, sampleContainer({ name: "b", limitCPU: 250 })]);
  const { limits, requests, ownLimits, ownRequests } = podUseOf(pod, undefined) ?? {};
  assert.deepEqual([limits, requests, ownLimits, ownRequests], [450, 300, 450, 300]);
});

test("podUseOf() knows nothing of a pod that has ended", () => {
  for (const phase of ["Succeeded", "Failed"] as const) {
    assert.equal(podUseOf(limited(4000, { phase }), undefined), undefined);
  }
  assert.equal(podUseOf(limited(4000, { phase: "Pending" }), undefined)?.limits, 4000);
});

test("podUseOf() tells the user's own values from raised ones, requests where those move", () => {
  const of = (pod: Pod) => {
    const { ownLimits, ownRequests, moves } = podUseOf(pod, allocationOf(pod)) ?? {};
    return [ownLimits, ownRequests, moves];
  };
  assert.deepEqual(of(limited(800)), [200, 100, false]);
  const fixed = podOf([sampleGuaranteed({ limitCPU: 900, requestCPU: 900 })]);
  assert.deepEqual(of(fixed), [200, 200, true]);
});

test("podUseOf() finds what limits are above the user's own, where that may be taken back", () => {
  const raiseOf = (limitCPU: number, choice: Choice = {}, change: Partial<Pod> = {}) => {
    const pod = limited(limitCPU, change);
    return podUseOf(pod, allocationOf(pod, choice))?.raise;
  };
  assert.equal(raiseOf(500), 300);
  assert.equal(raiseOf(150), 0);
  for (const held of ["half", "lower"] as const) assert.equal(raiseOf(500, { held }), 300);
  assert.equal(raiseOf(500, { held: "both" }), 0);
  assert.equal(raiseOf(500, {}, { priorityClassName: "system-node-critical" }), 0);
  assert.equal(raiseOf(500, {}, { priorityClassName: "high" }), 300);
  const { metadata } = limited(500);
  assert.equal(raiseOf(500, {}, { metadata: { ...metadata, terminating: true } }), 0);
  assert.equal(podUseOf(limited(500), undefined)?.raise, 0);
});

test("podUseOf() lets a live pod claim whose need has reached its ceiling", () => {
  const claims = (choice: Choice, change: Partial<Pod> = {}) => {
    const pod = limited(200, change);
    return podUseOf(pod, allocationOf(pod, choice))?.claims;
  };
  assert.deepEqual([claims({ need: 800 }), claims({ need: 790 })], [true, false]);
  assert.equal(claims({ need: 800, podUID: "reborn" }), false);
  assert.equal(claims({ need: 800 }, { phase: "Pending" }), false);
  const pod = limited(200);
  assert.equal(podUseOf(pod, sampleAllocation(pod))?.claims, false);
});

test("podUseOf() counts as the server's quota does: init containers, the pod's own word, overhead", () => {
  const init = (limitCPU: number, requestCPU = 10) => ({
    initContainers: [sampleContainer({ name: "prepare", limitCPU, requestCPU })],
  });
  const of = (limitCPU: number, change: Partial<Pod>): readonly unknown[] => {
    const pod = limited(limitCPU, change);
    const use = podUseOf(pod, allocationOf(pod));
    return [use?.limits, use?.ownLimits, use?.raise, use?.requests, use?.ownRequests];
  };
  assert.deepEqual(of(500, {}), [500, 200, 300, 100, 100]);
  // What the init container takes in any case can't be given back.
  assert.deepEqual(of(500, init(350, 300)), [500, 350, 150, 300, 300]);
  assert.deepEqual(of(500, init(2000)), [2000, 2000, 0, 100, 100]);
  const podLevel = { limitCPU: 600, requestCPU: 400 };
  assert.deepEqual(of(500, { podLevel }), [600, 600, 0, 400, 400]);
  assert.deepEqual(of(500, { overheadCPU: 50 }), [550, 250, 300, 150, 150]);
  const { limitCPU: _none, ...free } = sampleContainer();
  const { limits, requests } = podUseOf(podOf([free], { overheadCPU: 50 }), undefined) ?? {};
  assert.deepEqual([limits, requests], [0, 150]);
});

test("podUseOf() counts a sidecar beside the init containers that start after it", () => {
  const of = (sidecarsBefore?: number): number | undefined => {
    const order = sidecarsBefore === undefined ? {} : { sidecarsBefore };
    const initContainers = [sampleContainer({ name: "prepare", limitCPU: 400, ...order })];
    const sidecar = sampleContainer({ name: "proxy", sidecar: true, limitCPU: 150 });
    return podUseOf(podOf([sampleContainer(), sidecar], { initContainers }), undefined)?.limits;
  };
  assert.deepEqual([of(), of(1)], [400, 550]);
});
