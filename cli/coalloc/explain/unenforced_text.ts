/**
 * The text about a pod without a known blocker. Pure.
 *
 * @module
 */
import { remedyFor } from "../../../shared/api/reasons/reasons.ts";
import { cpuText } from "../formats.ts";
import type { Explanation } from "./explanation.ts";
import { type DemandAndLimit, demandsAndLimits, exceeds, isUnenforced } from "./known_demand.ts";

/** The verdict. */
export interface UnenforcedText {
  /** True when it is known that no limit keeps the pod from what it demands. */
  readonly covered: boolean;
  readonly words: string;
  /** What can be done where a limit is not enforced. */
  readonly remedy?: string;
}

/** Says that the limits cover the demand only where the agent knows both of all containers now. */
export function unenforcedText(explanation: Explanation): UnenforcedText {
  if (explanation.nodeView === undefined) return writtenText(explanation);
  const parts = demandsAndLimits(explanation);
  const covered = parts.every((part) => exceeds(part) === false);
  const free = explanation.containers.filter(isUnenforced).map(({ name }) => name);
  if (free.length === 0) {
    return covered && parts.length > 0
      ? { covered, words: "Not blocked: the limit covers the demand" }
      : { covered: false, words: `Nothing is known to block it: ${figures(parts)}` };
  }
  const unenforced = `${free.length === 1 ? "the limit" : "the limits"} of ${free.join(", ")} ` +
    `${free.length === 1 ? "is" : "are"} not enforced: QuotaOff`;
  const words = !covered
    ? `Nothing is known to block it: ${figures(parts)} beside what is free; ${unenforced}`
    : parts.length === 0
    ? `Not blocked: ${unenforced}`
    : `Not blocked: what is limited has what it demands; ${unenforced}`;
  return { covered, words, ...quotaOffRemedy() };
}

/**
 * No agent answers: what was written when a limit last moved may be hours old, and covers nothing now.
 */
function writtenText(explanation: Explanation): UnenforcedText {
  const isOff = explanation.market?.reason === "QuotaOff";
  const off = isOff ? ", QuotaOff" : "";
  const words = "Nothing is known to block it: as last written down: " +
    `${figures(demandsAndLimits(explanation))}${off}; the agent's readings are not known`;
  return { covered: false, words, ...(isOff ? quotaOffRemedy() : {}) };
}

function quotaOffRemedy(): Pick<UnenforcedText, "remedy"> {
  const remedy = remedyFor("QuotaOff");
  return remedy === undefined ? {} : { remedy };
}

function figures(parts: readonly DemandAndLimit[]): string {
  const demand = sumOf(parts.map((part) => part.demand));
  const limit = sumOf(parts.map((part) => part.limit));
  return `demand ${knownText(demand)}, limit ${knownText(limit)}`;
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
