/**
 * Floor and ceiling of each container by its namespace's LimitRanges and quotas and, for Guaranteed
 * pods, by the requests on the node.
 *
 * @module
 */
import { largestLimit } from "../../../shared/resize/checks/limit_range.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { podPhases, podTotal, sumOf } from "../../../shared/resize/inputs/resources.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { CeilingReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";
import type { AmountRange, AmountRanges } from "../../../shared/resize/inputs/resize_input.ts";

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
  readonly backTo?: number;
}

/** A container that takes part. */
export interface BoundedContainer {
  readonly container: PodContainer;
  /** The original limit, millicores. */
  readonly own: number;
}

/** Bounds of a pod by the quotas that count it. */
export interface QuotaBounds {
  /** The share of each container, millicores, and the quota that makes it no more, by container. */
  readonly shares: ReadonlyMap<string, { readonly millicores: number; readonly quota: string }>;
  /** What the pod gives back of the limits above its ceilings, millicores. */
  readonly owed: number;
  /** When the shares may be others without an event, ms from now. */
  readonly againMs?: number;
}

/** What the bounds come from. */
export interface NamespaceFacts {
  readonly pod: Pod;
  readonly limitRange?: AmountRanges | undefined;
  /** Undefined when no quota counts the pod. */
  readonly quota?: QuotaBounds | undefined;
  /** What the requests on the node allow the pod as its total, millicores. @default {Infinity} */
  readonly nodeCeiling?: number | undefined;
}

/** The namespace's bounds, in the order of the participants. */
export function namespaceBounds(
  participants: readonly BoundedContainer[],
  { pod, limitRange, quota, nodeCeiling = Infinity }: NamespaceFacts,
): readonly NamespaceBound[] {
  const participating = new Set(participants.map(({ container }) => container.name));
  const others = sumOf(
    pod.containers.filter(({ name }) => !participating.has(name)),
    ({ limits }) => limits.cpu,
  );
  const requests = participants.map(({ container }) => container.requests.cpu ?? 0);
  const bases = participants.map(({ container }) => container.limits.cpu ?? 0);
  const moves = movesRequest(pod);
  const byPod = partsOfPod(participants, { pod, range: limitRange?.pod });
  const byNode = parts(nodeCeiling - others, { requests, bases });
  const podLeast = parts(limitRange?.pod.min ?? 0, { requests, bases: participants.map(() => 0) });
  const left = quota === undefined ? [] : afterGivingBack(participants, quota);
  return participants.map(({ container: { name, requests: { cpu: requestCPU = 0 } } }, index) => {
    const share = quota?.shares.get(name);
    const backTo = left[index];
    return {
      floor: Math.max(limitRange?.container.min ?? 0, podLeast[index] ?? 0),
      ...(backTo === undefined ? {} : { backTo }),
      ceilings: [
        {
          ceiling: limitRange === undefined
            ? Infinity
            : mostBeside(limitRange.container, { request: requestCPU, moves }),
          reason: "LimitRange",
          source: "the LimitRange of containers",
        },
        {
          ceiling: byPod.get(name) ?? Infinity,
          reason: "LimitRange",
          source: "the LimitRange of pods",
        },
        {
          ceiling: share?.millicores ?? Infinity,
          reason: "QuotaExceeded",
          source: `its share of ResourceQuota ${share?.quota}`,
        },
        {
          ceiling: byNode[index] ?? Infinity,
          reason: "NodeCapacity",
          source: "what the requests on the node leave",
        },
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
  const limits = participants.map(({ container }) => container.limits.cpu ?? 0);
  const above = participants.map(({ container: { name, limits: { cpu: limitCPU = 0 } } }) =>
    Math.max(0, limitCPU - (shares.get(name)?.millicores ?? Infinity))
  );
  const total = Math.min(owed, added(above));
  if (total === 0) return [];
  const given = splitByRequest(total, above);
  return limits.map((limit, index) => given[index] ? limit - given[index] : undefined);
}

/**
 * What the LimitRange of pods leaves each container, by name: of the containers that run together, and
 * for sidecars also beside each init container that runs with them.
 */
function partsOfPod(
  participants: readonly BoundedContainer[],
  { pod, range }: { readonly pod: Pod; readonly range: AmountRange | undefined },
): ReadonlyMap<string, number> {
  const least = new Map<string, number>();
  // What the pod says as a whole is what counts then, and no container's limit changes it.
  if (range === undefined || pod.podLevel?.limits.cpu !== undefined) return least;
  const request = podTotal(pod, ({ requests }) => requests.cpu) ?? 0;
  const most = mostBeside(range, { request, moves: movesRequest(pod) });
  const participating = new Set(participants.map(({ container }) => container.name));
  for (const phase of podPhases(pod)) {
    const names = new Set(phase.map(({ name }) => name));
    const theirs = participants.filter(({ container }) => names.has(container.name));
    const others = sumOf(
      phase.filter(({ name }) => !participating.has(name)),
      ({ limits }) => limits.cpu,
    );
    const split = parts(most - others, {
      requests: theirs.map(({ container }) => container.requests.cpu ?? 0),
      bases: theirs.map(({ own }) => own),
    });
    for (const [index, { container: { name } }] of theirs.entries()) {
      least.set(name, Math.min(least.get(name) ?? Infinity, split[index] ?? Infinity));
    }
  }
  return least;
}

/** Where the request moves with the limit their ratio is 1, the least that a range asks for. */
function mostBeside(
  range: AmountRange,
  { request, moves }: { readonly request: number; readonly moves: boolean },
): number {
  return moves ? range.max : largestLimit(range, request);
}

function added(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0);
}

interface Split {
  readonly requests: readonly number[];
  readonly bases: readonly number[];
}

/**
 * Splits what a pod may have: each container its base first and of the rest a part by request, or
 * all by request where the bases are too much. Nothing when there is no bound.
 */
function parts(total: number, { requests, bases }: Split): readonly number[] {
  if (total === Infinity || requests.length === 0) return [];
  const base = added(bases);
  if (base > total) return splitByRequest(Math.max(0, total), requests);
  return splitByRequest(total - base, requests).map((part, index) => part + (bases[index] ?? 0));
}
