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
  /** Its source, for messages. */
  readonly source: string;
}

/** Bounds of one container by its namespace. Millicores. */
export interface NamespaceBound {
  readonly floor: number;
  readonly ceilings: readonly Ceiling[];
  /** The limit once the quotas have taken back their part of its raise. Absent: it gives nothing. */
  readonly backTo?: number | undefined;
}

/** A container that takes part. */
export interface BoundedContainer {
  readonly container: PodContainer;
  /** The original limit, millicores. */
  readonly own: number;
}

/** A number of millicores, and the quota that makes it no more. */
export interface QuotaAmount {
  readonly millicores: number;
  /** Its name. */
  readonly quota: string;
}

/** Bounds of a pod by the quotas that count it. */
export interface QuotaBounds {
  /** The share of each container, and the quota that makes it no more, by container. */
  readonly shares: ReadonlyMap<string, QuotaAmount>;
  /** Millicores of the limits above its ceilings that the pod gives back. */
  readonly owed: number;
  /** When the shares may be others without an event, ms from now. */
  readonly againMs?: number;
}

/** The input of the namespace's bounds. */
export interface NamespaceInput {
  readonly pod: Pod;
  readonly limitRange?: ResourceRanges | undefined;
  /** Undefined when no quota counts the pod. */
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
  // A request that moves with the limit keeps their ratio at 1, the least that a range asks for.
  const moves = movesRequest(pod);
  const limits = participants.map(({ container }) => container.limits.cpu ?? 0);
  const byPod = partsOfPod(participants, { pod, range: range?.pod });
  const byNode = parts(nodeCeiling, { among: pod.containers, participants, bases: limits });
  const podLeast = splitByRequest(range?.pod.min ?? 0, requestsOf(participants));
  const left = quota === undefined ? [] : afterGivingBack(participants, quota);
  return participants.map(({ container: { name, requests } }, index) => {
    const request = requests.cpu ?? 0;
    const share = quota?.shares.get(name);
    const bound = (
      ceiling: number | undefined,
      reason: CeilingReason,
      source: string,
    ): Ceiling => ({ ceiling: ceiling ?? Infinity, reason, source });
    const most = range && largestLimit(range.container, moves ? Infinity : request);
    const ofQuota = `its share of ResourceQuota ${share?.quota}`;
    return {
      floor: Math.max(range?.container.min ?? 0, podLeast[index] ?? 0),
      backTo: left[index],
      ceilings: [
        bound(most, "LimitRange", "the LimitRange of containers"),
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
function afterGivingBack(
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
 * Millicores that the LimitRange of pods leaves each container, by name: of the containers that run
 * together, and for sidecars also beside each init container that runs with them.
 */
function partsOfPod(
  participants: readonly BoundedContainer[],
  { pod, range }: { readonly pod: Pod; readonly range: AmountRange | undefined },
): ReadonlyMap<string, number> {
  const least = new Map<string, number>();
  if (range === undefined) return least;
  // Limits that are the requests are bounded as those.
  const side = movesRequest(pod) ? "requests" : "limits";
  const most = largestTotal(pod, { range, resource: "cpu", side });
  for (const among of podPhases(pod)) {
    const theirs = participants.filter(({ container }) =>
      among.some(({ name }) => name === container.name)
    );
    const bases = theirs.map(({ own }) => own);
    const split = parts(most, { among, participants: theirs, bases });
    for (const [index, { container: { name } }] of theirs.entries()) {
      least.set(name, Math.min(least.get(name) ?? Infinity, split[index] ?? Infinity));
    }
  }
  return least;
}

function requestsOf(participants: readonly BoundedContainer[]): readonly number[] {
  return participants.map(({ container }) => container.requests.cpu ?? 0);
}

/**
 * Splits what a pod may have: each participant its base first and of the rest a part by request, or
 * all by request where the bases are too much. Nothing when there is no bound.
 */
function parts(
  most: number,
  { among, participants, bases }: {
    /** Containers that run together; those that take no part keep their limits. */
    readonly among: readonly PodContainer[];
    readonly participants: readonly BoundedContainer[];
    readonly bases: readonly number[];
  },
): readonly number[] {
  // No participant is in a phase of an init container alone.
  if (most === Infinity || participants.length === 0) return [];
  const names = new Set(participants.map(({ container }) => container.name));
  const others = among.filter(({ name }) => !names.has(name));
  const total = most - sumOf(others, ({ limits }) => limits.cpu);
  const requests = requestsOf(participants);
  const base = sumCPU(bases);
  if (base > total) return splitByRequest(Math.max(0, total), requests);
  return splitByRequest(total - base, requests).map((part, index) => part + (bases[index] ?? 0));
}

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

/** A request that is to fall holds its place until the kubelet has done it. */
function requestOf({ requests: { cpu = 0 }, applied }: Parameters<AmountOf>[0]): number {
  return Math.max(cpu, applied?.requests.cpu ?? 0);
}
