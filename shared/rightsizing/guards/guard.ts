/**
 * A decision to apply is a chain of named guards over gathered facts.
 *
 * @module
 */
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { type PairEntry, pairsOf, wantedOf, type WantedResources } from "./wanted_resources.ts";

/** What a guard may say; nothing means: go on. */
export type GuardVerdict =
  | undefined
  | {
    readonly verdict: "hold";
    readonly reason: RightsizingReason;
    readonly message: string;
    /** When to look again; absent: with the next cycle. */
    readonly retryAfterMs?: number;
    /** True where it is only the rest of a recommendation that another guard has cut down. */
    readonly yields?: true;
  }
  | {
    readonly verdict: "clamp";
    readonly reason: RightsizingReason;
    readonly message: string;
    /** What is left; nothing at all is a hold. */
    readonly wanted: WantedResources;
  }
  | {
    /** Worth telling, and against nothing that is wanted. */
    readonly verdict: "tell";
    readonly reason: RightsizingReason;
    readonly message: string;
  };

/** One named guard. */
export interface Guard {
  readonly name: string;
  readonly guard: (facts: RightsizingFacts, wanted: WantedResources) => GuardVerdict;
}

/** What there is against one pair; undefined: nothing. */
export type Objection = (entry: PairEntry) => string | undefined;

/** Takes out each pair that there is something against, and says what; nothing when there is none. */
export function withoutPairs(
  wanted: WantedResources,
  reason: RightsizingReason,
  { against }: { readonly against: Objection },
): GuardVerdict {
  const words: string[] = [];
  const rest = pairsOf(wanted).filter((entry) => {
    const problem = against(entry);
    if (problem !== undefined) words.push(problem);
    return problem === undefined;
  });
  if (words.length === 0) return undefined;
  const message = [...new Set(words)].join("; ");
  return { verdict: "clamp", reason, message, wanted: wantedOf(rest) };
}
