/**
 * The demand of a pod as a metric has it: the server's answer, and what counts in the pod's bounds.
 *
 * @module
 */
import type { AnswerProblem, InstantAnswer } from "../../shared/instant_queries.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { splitByRequest } from "../../shared/market/pod_split.ts";
import { GRID } from "../../shared/quantity.ts";

/** Outcomes of queries, as metrics count them; all but `value` give no demand. */
export type MetricOutcome = DemandReading["kind"];

/** An answer that gives no demand: why the server gave none, or what is wrong with it. */
export interface NoDemand {
  readonly kind: AnswerProblem | "empty" | "ambiguous" | "unusable" | "old";
  /** In a sentence, the same one as long as the problem is the same. */
  readonly message: string;
}

/** CPU cores of one pod, and how old they were when they came, ms; or why there are none. */
export type DemandReading =
  | { readonly kind: "value"; readonly cores: number; readonly ageMs: number }
  | NoDemand;

/** No node has as many cores: beyond that the query counts something else. */
const MOST_CORES = 100_000;

/** Outcomes that only a person can mend: the query, or what it asks, is wrong. */
const FAULTS: ReadonlySet<MetricOutcome> = new Set(["ambiguous", "unusable", "refused"]);

/** True where a warning is due: waiting does not help. */
export function isFault({ kind }: { readonly kind: MetricOutcome }): boolean {
  return FAULTS.has(kind);
}

/** Reads an answer that came at the wall-clock time `nowMs`; values of `lifeMs` ago are too old. */
export function demandReading(
  answer: InstantAnswer,
  { nowMs, lifeMs }: { readonly nowMs: number; readonly lifeMs: number },
): DemandReading {
  if ("problem" in answer) return { kind: answer.problem, message: answer.message };
  const [sample, ...others] = answer.samples;
  if (sample === undefined) {
    return { kind: "empty", message: "the query finds nothing" };
  }
  if (others.length > 0) {
    const message = "the query finds several series, expected one: aggregate it, for instance " +
      "with sum()";
    return { kind: "ambiguous", message };
  }
  const { value, atMs } = sample;
  const fault = faultOf(value);
  if (fault !== undefined) return { kind: "unusable", message: `the value is ${fault}` };
  const ageMs = Math.max(0, nowMs - atMs);
  if (ageMs < lifeMs) return { kind: "value", cores: value, ageMs };
  return { kind: "old", message: "the value is too old, or the clocks differ" };
}

function faultOf(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN, no number";
  if (!Number.isFinite(value)) return "infinite";
  if (value < 0) return "negative";
  return value > MOST_CORES ? `above ${MOST_CORES} cores` : undefined;
}

/**
 * A demand, which ends by itself: the cores of the pod, or the millicores of containers by name; why
 * there is none; or why the annotation can't count at all.
 */
export type MetricAnswer =
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

/** The source of a demand that a query gives. */
export function demandSource(query: string, cores: number): string {
  return `query ${query} says ${Number(cores.toPrecision(3))} cores for the pod`;
}

/** Warnings for the pod's owner. */
export function metricWarnings(answer: MetricAnswer | undefined): readonly string[] {
  if (answer === undefined || "demand" in answer) return [];
  if ("ignored" in answer) return [answer.ignored];
  return answer.fault ? [answer.missing] : [];
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
