/**
 * Allocations, seats and readings for the agent's tests.
 *
 * @module
 */
import type { ContainerBounds, PodAllocation } from "../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import { type Seat, seatsOf } from "./seats.ts";

/** Parts of an allocation that differ from the sample's. */
export interface AllocationChange {
  readonly spec?: Partial<PodAllocation["spec"]>;
  readonly status?: PodAllocation["status"];
}

/** A hex id made from a short name. */
export function sampleID(name: string): string {
  return [...name].map((char) => char.charCodeAt(0).toString(16)).join("");
}

/** Bounds of the container `app` of a pod: 100 to 2000 m. */
export function sampleBounds(pod: string, change: Partial<ContainerBounds> = {}): ContainerBounds {
  const containerID = `containerd://${sampleID(pod)}`;
  return { name: "app", containerID, floor: 100, ceiling: 2000, weight: 100, ...change };
}

/** The allocation of a pod with bounds of revision 1 and an own limit of 500 m. */
export function boundedAllocation(
  pod: string,
  { spec = {}, status }: AllocationChange = {},
): PodAllocation {
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: pod, namespace: "shop", uid: `uid-${pod}`, resourceVersion: "1" },
    spec: { podName: pod, podUID: pod, nodeName: "node-1", namespace: "shop", ...spec },
    status: status ?? {
      bounds: { revision: 1, reason: "", containers: [sampleBounds(pod)] },
      originalLimits: [{ name: "app", cpu: "500m" }],
    },
  };
}

/** The seats of an allocation; throws when it was refused. */
export function sampleSeats(allocation: PodAllocation): readonly Seat[] {
  const found = seatsOf(allocation);
  if ("refused" in found) throw new TypeError(`Cannot seat: ${found.refused}`);
  return found.seats;
}

/** A quarter of a second of a container that uses 300 m of its 500. */
export function sampleReading(
  pod: string,
  change: Partial<ContainerSample> & Pick<ContainerSample, "at">,
): ContainerSample {
  return {
    podUID: pod,
    containerID: sampleID(pod),
    intervalMs: 250,
    usage: 300,
    heldBack: 0,
    periods: 2,
    throttledPeriods: 0,
    quota: 500,
    ...change,
  };
}
