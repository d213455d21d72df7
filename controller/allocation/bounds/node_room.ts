/**
 * CPU that the requests on a node leave for raises of a pod with requests that follow its limits.
 *
 * @module
 */
import { sumOf } from "../../../shared/resize/inputs/resources.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { GRID, sumCPU } from "../../../shared/quantity.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { isFinished } from "../../../shared/resize/scope.ts";
import { type Caches, podsOnNode } from "../../caches.ts";

/**
 * The pod's largest total, in steps of 10 m: its present one and all free CPU, which goes to the first
 * pod that takes it. Undefined for a pod with a fixed request, and where the node is not known.
 */
export function nodeCeiling(
  { pod, node }: { readonly pod: Pod; readonly node: Node | undefined },
  pods: Pick<Caches["pods"], "byIndex">,
): number | undefined {
  if (!movesRequest(pod) || node === undefined) return undefined;
  const present = sumOf(pod.containers, ({ limits }) => limits.cpu);
  const room = Math.max(0, nodeRoom(node, podsOnNode(pods, pod.nodeName)));
  return present + Math.floor(room / GRID) * GRID;
}

/**
 * Allocatable less the requests of these pods, millicores; below 0 on a node that is overcommitted.
 * As the scheduler and the kubelet count them, but for the overhead of a RuntimeClass and requests of
 * whole pods, which are left out.
 */
export function nodeRoom(
  { allocatableCPU }: Pick<Node, "allocatableCPU">,
  pods: readonly Pod[],
): number {
  return allocatableCPU - sumCPU(pods.filter((pod) => !isFinished(pod)).map(podRequest));
}

/**
 * The sum of the containers' requests, or what the largest init container asks for beside the sidecars.
 * Source: `AggregateContainerRequests` in k8s.io/component-helpers/resource.
 */
function podRequest({ containers, initContainers }: Pod): number {
  const sum = (all: readonly PodContainer[]): number => sumCPU(all.map(requestOf));
  const largest = Math.max(0, ...initContainers.map(requestOf));
  return Math.max(sum(containers), largest + sum(containers.filter(({ sidecar }) => sidecar)));
}

/** A request that is to fall holds its place until the kubelet has done it. */
function requestOf({ requests: { cpu = 0 }, applied }: PodContainer): number {
  return Math.max(cpu, applied.requests.cpu ?? 0);
}
