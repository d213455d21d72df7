/**
 * The demand of a pod by a metric: reads Prometheus' answer, and says what counts in the pod's bounds.
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
  /** The same text as long as the problem is the same. */
  readonly message: string;
}

/** CPU cores of one pod, and the value's age when the answer came, ms; or why there are none. */
export type DemandReading =
  | { readonly kind: "value"; readonly cores: number; readonly ageMs: number }
  | NoDemand;

/** No node has this many cores: a larger value is not a number of cores. */
const MOST_CORES = 100_000;

/** Outcomes of a wrong query, which only a person can correct. */
const FAULTS: ReadonlySet<MetricOutcome> = new Set(["ambiguous", "unusable", "refused"]);

/** True for outcomes that need a warning, since waiting does not help. */
export function isFault({ kind }: { readonly kind: MetricOutcome }): boolean {
  return FAULTS.has(kind);
}

/** Reads an answer that came at the wall-clock time `nowMs`; values older than `lifeMs` do not count. */
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

/** A demand with its end; or why there is none; or why the annotation has no effect. */
export type MetricAnswer =
  | {
    /** Cores of the pod, or millicores by container name. */
    readonly demand: number | ReadonlyMap<string, number>;
    /** For messages. */
    readonly source: string;
    /** Ms since 1970. */
    readonly untilMs: number;
  }
  | {
    readonly missing: string;
    /** True where waiting does not help: the user gets a warning. */
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

/** Divides a pod's cores among its containers by request, in whole millicores. */
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

/** A demand is published again when it has moved by this share, and by a grid step at least. */
const LEAST_MOVE = 0.1;

/** Whether a demand has moved far enough to be published, millicores. */
export function hasMoved(before: number | undefined = 0, now: number | undefined = 0): boolean {
  return Math.abs(now - before) >= Math.max(GRID, LEAST_MOVE * before);
}
