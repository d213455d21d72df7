/**
 * What is said of a pod that nothing is known to hold back. Pure.
 *
 * @module
 */
import { cpuText } from "../cpu_text.ts";
import type { Explanation } from "./explanation.ts";
import { type DemandAndLimit, demandsAndLimits, exceeds } from "./known_demand.ts";

/** The verdict. */
export interface UnheldWords {
  /** True when it is known that the limits cover the demand. */
  readonly covered: boolean;
  readonly words: string;
}

/** Says that the limits cover the demand only where all of both is known. */
export function unheldWords(explanation: Explanation): UnheldWords {
  const parts = demandsAndLimits(explanation);
  const covered = parts.length > 0 && parts.every((part) => exceeds(part) === false);
  if (covered) {
    return { covered, words: "Held back by nothing: the limit covers the demand" };
  }
  const demand = sumOf(parts.map((part) => part.demand));
  const limit = sumOf(parts.map((part) => part.limit));
  return {
    covered,
    words: `Nothing is known to hold it back: demand ${knownText(demand)}, ` +
      `limit ${knownText(limit)}`,
  };
}

/** Undefined where one of them is, and where there are none. */
function sumOf(values: readonly DemandAndLimit["demand"][]): number | undefined {
  return values.length === 0 ? undefined : values.reduce(
    (sum, value) => sum === undefined || value === undefined ? undefined : sum + value,
    0,
  );
}

function knownText(millicores: number | undefined): string {
  return millicores === undefined ? "not known" : cpuText(millicores);
}
