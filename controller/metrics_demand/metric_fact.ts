/**
 * What a metric says of a pod.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { splitByRequest } from "../../shared/market/pod_split.ts";
import { GRID } from "../../shared/quantity.ts";

/**
 * A demand, which ends by itself: the cores of the pod, or the millicores of containers by name; why
 * there is none; or why the annotation can't count at all.
 */
export type MetricFact =
  | {
    readonly demand: number | ReadonlyMap<string, number>;
    /** Its source, for messages. */
    readonly source: string;
    /** Ms since 1970. */
    readonly untilMs: number;
  }
  | {
    readonly missing: string;
    /** True where a warning is due: waiting does not help. */
    readonly fault: boolean;
  }
  | { readonly ignored: string };

/** Warnings for the pod's owner. */
export function metricWarnings(fact: MetricFact | undefined): readonly string[] {
  if (fact === undefined || "demand" in fact) return [];
  if ("ignored" in fact) return [fact.ignored];
  return fact.fault ? [fact.missing] : [];
}

/** A pod's cores over its containers by request, in whole millicores. */
export function demandParts({ containers }: Pod, cores: number): ReadonlyMap<string, number> {
  if (containers.length === 0) return new Map();
  const requests = containers.map(({ requests: { cpu: requestCPU = 0 } }) => requestCPU);
  const parts = splitByRequest(Math.round(cores * 1000), requests);
  return new Map(containers.map(({ name }, index) => [name, parts[index] ?? 0]));
}

/** The demand that was last published for a pod; empty where there was none. */
export function publishedParts({ status }: PodAllocation): ReadonlyMap<string, number> {
  return new Map(
    status?.bounds?.containers.flatMap(({ name, demand }) =>
      demand === undefined ? [] : [[name, demand]]
    ),
  );
}

/** A move by less than this share of the demand is none; nor is one below the step of quotas. */
const LEAST_MOVE = 0.1;

/** Whether a demand has moved far enough to be published, millicores; absent is 0. */
export function hasMoved(before: number | undefined = 0, now: number | undefined = 0): boolean {
  return Math.abs(now - before) >= Math.max(GRID, LEAST_MOVE * before);
}
