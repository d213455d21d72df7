/**
 * A decision to apply is a chain of named guards over a snapshot of the cluster.
 *
 * @module
 */
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import {
  type PairEntry,
  pairsOf,
  type ResourcePair,
  wantedOf,
  type WantedResources,
} from "../../resize/resources.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

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
export type Objection = (entry: PairEntry) => string | PartialObjection | undefined;

/** What there is against a part of one pair. */
export interface PartialObjection {
  readonly problem: string;
  /** There is nothing against this. */
  readonly rest: ResourcePair;
}

/**
 * Takes out each pair, or part of one, that there is something against, and says what; nothing when there
 * is none.
 */
export function withoutPairs(
  wanted: WantedResources,
  reason: RightsizingReason,
  { against }: { readonly against: Objection },
): GuardVerdict {
  const words: string[] = [];
  const rest = pairsOf(wanted).flatMap((entry): readonly PairEntry[] => {
    const objection = against(entry);
    if (objection === undefined) return [entry];
    if (typeof objection === "string") {
      words.push(objection);
      return [];
    }
    words.push(objection.problem);
    return [{ ...entry, pair: objection.rest }];
  });
  if (words.length === 0) return undefined;
  const message = [...new Set(words)].join("; ");
  return { verdict: "clamp", reason, message, wanted: wantedOf(rest) };
}
