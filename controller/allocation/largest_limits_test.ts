import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/sample_objects.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createLargestLimits } from "./largest_limits.ts";

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

function podOf(name: string, containers: readonly Partial<PodContainer>[]): Pod {
  const pod = samplePod(name, {
    containers: containers.map((each) => sampleContainer(each)),
  });
  return { ...pod, phase: "Running", metadata: { ...pod.metadata, uid: `uid-${name}` } };
}

/** Millicores of container `app`. */
function limited(name: string, limitCPU: number): Pod {
  return podOf(name, [{ limitCPU }]);
}

function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const pods: Pod[] = [];
  const allocations = new Map<string, PodAllocation>();
  let looks = 0;
  const largest = createLargestLimits({
    pods: {
      byIndex(namespace) {
        looks++;
        return pods.filter(({ metadata }) => metadata.namespace === namespace);
      },
    },
    allocations: { get: (key) => allocations.get(key) },
  }, clock);
  return {
    pods,
    /** Notes that the user's own limit of container `app` is this. */
    raisedFrom(pod: Pod, cpu: string): void {
      const own = [{ name: "app", cpu }];
      allocations.set(`shop/${pod.metadata.uid}`, {
        ...sampleAllocation(pod),
        status: { originalLimits: own, originalRequests: own },
      });
    },
    pass: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    looks: () => looks,
    of: (namespace = "shop") => largest.of(namespace).limits,
    requests: () => largest.of("shop").requests,
  };
}

test("createLargestLimits() gives the largest limit of a pod, its containers summed", () => {
  const { pods, of } = stage();
  pods.push(limited("a", 500), podOf("b", [{ limitCPU: 300 }, { name: "proxy", limitCPU: 250 }]));
  assert.equal(of(), 550);
  assert.equal(of("other"), 0);
});

test("createLargestLimits() counts containers without a limit for nothing", () => {
  const { pods, of } = stage();
  const { limitCPU: _none, ...free } = sampleContainer({ name: "free" });
  pods.push({ ...limited("a", 200), containers: [free] });
  assert.equal(of(), 0);
});

test("createLargestLimits() reckons with the user's own limit of a pod that was raised", () => {
  const { pods, raisedFrom, of } = stage();
  const pod = limited("a", 800);
  pods.push(pod);
  raisedFrom(pod, "200m");
  assert.equal(of(), 200);
});

test("createLargestLimits() gives the largest request, the own one where it was raised", async () => {
  const { pods, raisedFrom, requests, pass } = stage();
  const raised = { limitCPU: 900, requestCPU: 900 };
  const fixed = podOf("fixed", [sampleGuaranteed(raised)]);
  pods.push(fixed, podOf("a", [{ requestCPU: 120 }, { name: "proxy", requestCPU: 30 }]));
  assert.equal(requests(), 900);
  raisedFrom(fixed, "200m");
  await pass(1000);
  assert.equal(requests(), 200);
  raisedFrom(fixed, "100m");
  await pass(1000);
  assert.equal(requests(), 150);
});

test("createLargestLimits() takes a Burstable pod's request as the spec has it", () => {
  const { pods, raisedFrom, requests } = stage();
  const pod = limited("a", 800);
  pods.push(pod);
  raisedFrom(pod, "50m");
  assert.equal(requests(), 100);
});

test("createLargestLimits() passes over pods that have ended", () => {
  const { pods, of } = stage();
  pods.push({ ...limited("job", 4000), phase: "Succeeded" }, limited("a", 100));
  assert.equal(of(), 100);
});

test("createLargestLimits() looks at a namespace at most once a second", async () => {
  const { pods, pass, looks, of } = stage();
  pods.push(limited("a", 100));
  assert.deepEqual([of(), looks()], [100, 1]);
  pods.push(limited("b", 300));
  await pass(999);
  assert.deepEqual([of(), looks()], [100, 1]);
  await pass(1);
  assert.deepEqual([of(), looks()], [300, 2]);
});
