/**
 * Floor and ceiling of each container by its namespace's LimitRanges and quotas and, for Guaranteed
 * pods, by the requests on the node.
 *
 * @module
 */
import { largestLimit, largestTotal } from "../../../shared/resize/checks/limit_range.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import {
  type AmountOf,
  podPhases,
  podTotal,
  sumOf,
} from "../../../shared/resize/inputs/resources.ts";
import type { Node } from "../../../shared/api/node.ts";
import { isFinished, type Pod, type PodContainer } from "../../../shared/api/pod.ts";
import type { CeilingReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { GRID, sumCPU } from "../../../shared/quantity.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";
import type { AmountRange, ResourceRanges } from "../../../shared/resize/inputs/resize_input.ts";
import { type Caches, podsOnNode } from "../../caches.ts";

/** An upper bound and its source. Millicores. */
export interface Ceiling {
  readonly ceiling: number;
  readonly reason: CeilingReason;
  readonly source: string;
}

/** Bounds of one container by its namespace. Millicores. */
export interface NamespaceBound {
  readonly floor: number;
  readonly ceilings: readonly Ceiling[];
  /** The limit once the container has given back its part of `owed`. Absent: it gives nothing. */
  readonly loweredLimit?: number | undefined;
}

/** A container that takes part. */
export interface BoundedContainer {
  readonly container: PodContainer;
  /** Millicores. */
  readonly originalLimit: number;
}

/** Millicores that a quota allows. */
export interface QuotaAmount {
  readonly millicores: number;
  /** The name of the ResourceQuota. */
  readonly quota: string;
}

/** Bounds of a pod by the quotas that count it. */
export interface QuotaBounds {
  /** The smallest share of each container in these quotas, by container name. */
  readonly shares: ReadonlyMap<string, QuotaAmount>;
  /** Millicores that the pod gives back of its limits above their shares. */
  readonly owed: number;
  /** When the shares may change without an event, ms from now. */
  readonly againMs?: number;
}

/** The input of the namespace's bounds. */
export interface NamespaceInput {
  readonly pod: Pod;
  readonly limitRange?: ResourceRanges | undefined;
  readonly quota?: QuotaBounds | undefined;
  /** The pod's largest total by the requests on its node, millicores; absent where its requests stay. */
  readonly nodeCeiling?: number | undefined;
}

/** The namespace's bounds, in the order of the participants. */
export function namespaceBounds(
  participants: readonly BoundedContainer[],
  { pod, limitRange, quota, nodeCeiling = Infinity }: NamespaceInput,
): readonly NamespaceBound[] {
  if (participants.length === 0) return [];
  const range = limitRange?.cpu;
  // A request that moves with the limit keeps their ratio at 1, which every range allows.
  const moves = movesRequest(pod);
  const limits = participants.map(({ container }) => container.limits.cpu ?? 0);
  const byPod = partsOfPod(participants, { pod, range: range?.pod });
  const byNode = splitTotal(nodeCeiling, { among: pod.containers, participants, bases: limits });
  const podMins = splitByRequest(range?.pod.min ?? 0, requestsOf(participants));
  const lowered = quota === undefined ? [] : loweredLimits(participants, quota);
  return participants.map(({ container: { name, requests } }, index) => {
    const request = requests.cpu ?? 0;
    const share = quota?.shares.get(name);
    const bound = (
      ceiling: number | undefined,
      reason: CeilingReason,
      source: string,
    ): Ceiling => ({ ceiling: ceiling ?? Infinity, reason, source });
    const byContainer = range && largestLimit(range.container, moves ? Infinity : request);
    const ofQuota = `its share of ResourceQuota ${share?.quota}`;
    return {
      floor: Math.max(range?.container.min ?? 0, podMins[index] ?? 0),
      loweredLimit: lowered[index],
      ceilings: [
        bound(byContainer, "LimitRange", "the LimitRange of containers"),
        bound(byPod.get(name), "LimitRange", "the LimitRange of pods"),
        bound(share?.millicores, "QuotaExceeded", ofQuota),
        bound(byNode[index], "NodeCapacity", "what the requests on the node leave"),
      ],
    };
  });
}

/**
 * The limits once the pod has given back what it owes, each container in proportion to what it has
 * above its share. Undefined for those that give nothing.
 */
function loweredLimits(
  participants: readonly BoundedContainer[],
  { shares, owed }: QuotaBounds,
): readonly (number | undefined)[] {
  const above = participants.map(({ container: { name, limits: { cpu = 0 } } }) =>
    Math.max(0, cpu - (shares.get(name)?.millicores ?? Infinity))
  );
  const total = Math.min(owed, sumCPU(above));
  if (total === 0) return [];
  const given = splitByRequest(total, above);
  return participants.map(({ container: { limits: { cpu = 0 } } }, index) =>
    given[index] ? cpu - given[index] : undefined
  );
}

/**
 * Millicores that the LimitRange of pods leaves each container, by name. A sidecar gets the smallest of
 * its parts: among the containers, and beside each init container that it runs with.
 */
function partsOfPod(
  participants: readonly BoundedContainer[],
  { pod, range }: { readonly pod: Pod; readonly range: AmountRange | undefined },
): ReadonlyMap<string, number> {
  const smallest = new Map<string, number>();
  if (range === undefined) return smallest;
  const side = movesRequest(pod) ? "requests" : "limits";
  const total = largestTotal(pod, { range, resource: "cpu", side });
  for (const among of podPhases(pod)) {
    const running = participants.filter(({ container }) =>
      among.some(({ name }) => name === container.name)
    );
    const bases = running.map(({ originalLimit }) => originalLimit);
    const split = splitTotal(total, { among, participants: running, bases });
    for (const [index, { container: { name } }] of running.entries()) {
      smallest.set(name, Math.min(smallest.get(name) ?? Infinity, split[index] ?? Infinity));
    }
  }
  return smallest;
}

function requestsOf(participants: readonly BoundedContainer[]): readonly number[] {
  return participants.map(({ container }) => container.requests.cpu ?? 0);
}

/**
 * Splits the pod's largest total: each participant gets its base and a part, by request, of what the
 * bases leave. Where the bases do not fit all is split by request. Empty when the total is Infinity.
 */
function splitTotal(
  total: number,
  { among, participants, bases }: {
    /** Containers that run together; those that take no part keep their limits. */
    readonly among: readonly PodContainer[];
    readonly participants: readonly BoundedContainer[];
    readonly bases: readonly number[];
  },
): readonly number[] {
  // No participant is in a phase of an init container alone.
  if (total === Infinity || participants.length === 0) return [];
  const names = new Set(participants.map(({ container }) => container.name));
  const others = among.filter(({ name }) => !names.has(name));
  const left = total - sumOf(others, ({ limits }) => limits.cpu);
  const requests = requestsOf(participants);
  const base = sumCPU(bases);
  if (base > left) return splitByRequest(Math.max(0, left), requests);
  return splitByRequest(left - base, requests).map((part, index) => part + (bases[index] ?? 0));
}

/**
 * The pod's largest total, in steps of 10 m: its present one and all CPU that no request holds, which
 * goes to the first pod that takes it. Undefined for a pod with a fixed request, or an unknown node.
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
 * As the scheduler and the kubelet count them (`AggregateContainerRequests` in
 * k8s.io/component-helpers/resource), but for the overhead of a RuntimeClass and requests of whole
 * pods, which are left out.
 */
export function nodeRoom(
  { allocatableCPU }: Pick<Node, "allocatableCPU">,
  pods: readonly Pod[],
): number {
  const requests = pods.filter((pod) => !isFinished(pod)).map(({ containers, initContainers }) =>
    podTotal({ containers, initContainers }, requestOf) ?? 0
  );
  return allocatableCPU - sumCPU(requests);
}

/** A request that falls counts until the kubelet has applied the lower one. */
function requestOf({ requests: { cpu = 0 }, applied }: Parameters<AmountOf>[0]): number {
  return Math.max(cpu, applied?.requests.cpu ?? 0);
}
