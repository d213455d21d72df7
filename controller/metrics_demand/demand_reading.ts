/**
 * From a server's answer to CPU cores.
 *
 * @module
 */
import type { InstantAnswer } from "./ports.ts";

/** What became of questions, for metrics; all but `value` give no demand. */
export const METRIC_OUTCOMES = [
  "value",
  "empty",
  "ambiguous",
  "unusable",
  "old",
  "refused",
  "unreachable",
  "unreadable",
] as const;

/** One of {@linkcode METRIC_OUTCOMES}. */
export type MetricOutcome = typeof METRIC_OUTCOMES[number];

/** An answer that gives no demand. */
export interface NoDemand {
  readonly kind: Exclude<MetricOutcome, "value">;
  /** In a sentence, the same one as long as it is the same matter. */
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
