/**
 * The order in which a kubelet changes the quotas of a pod and of its containers.
 *
 * @module
 */

import { LEAST_CPU } from "../../shared/market/clearing_round.ts";

/** A container's limit before and after, millicores; absent: no limit. */
export interface LimitStep {
  /** Hex id. */
  readonly containerID: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** One write of a quota, millicores. */
export type QuotaStep =
  | { readonly containerID: string; readonly millicores: number }
  | { readonly pod: true; readonly millicores: number | undefined };

/** The quota of a limit, millicores: a kubelet sets at least 1 ms of a period of 100 ms. */
export function containerQuota(limit: number): number {
  return Math.max(LEAST_CPU, limit);
}

/** Quota of the pod level, millicores: the sum where all containers have a limit, else none. */
export function podQuota(limits: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const limit of limits) {
    if (limit === undefined) return undefined;
    sum += containerQuota(limit);
  }
  return sum;
}

/**
 * The writes that lead from one set of limits to another. `containers` holds all containers of the
 * pod. The pod level is raised first and lowered last, and containers are lowered before others are
 * raised, so the containers' quotas never add up to more than the pod's. Source: the kubelet's
 * `doPodResizeAction`.
 */
export function quotaSteps(containers: readonly LimitStep[]): readonly QuotaStep[] {
  const before = podQuota(containers.map(({ from }) => from)) ?? Infinity;
  const to = podQuota(containers.map((container) => container.to));
  const after = to ?? Infinity;
  const change = ({ from, to: next }: LimitStep): number => (next ?? Infinity) - (from ?? Infinity);
  const own: QuotaStep[] = containers
    .filter((container) => container.to !== undefined && container.to !== container.from)
    .sort((a, b) => Number(change(a) > 0) - Number(change(b) > 0))
    .map(({ containerID, to: limit }) => ({
      containerID,
      millicores: containerQuota(limit ?? 0),
    }));
  if (after === before) return own;
  const pod: QuotaStep = { pod: true, millicores: to };
  return after > before ? [pod, ...own] : [...own, pod];
}
