/**
 * A decision is a chain of named checks, which hold, clamp or let pass what is wanted.
 *
 * @module
 */
import {
  type PairEntry,
  pairsOf,
  type ResourcePair,
  wantedOf,
  type WantedResources,
} from "./inputs/resources.ts";

/** The finding of a check with one reason, which becomes the finding's. */
export type Finding =
  | {
    readonly verdict: "hold";
    readonly message: string;
    /** When to look again; absent: when something changes, or with the next cycle. */
    readonly retryAfterMs?: number;
    /** True where it is only the rest of what another check has cut down. */
    readonly yields?: true;
  }
  | {
    readonly verdict: "clamp";
    readonly message: string;
    /** The values left; none at all is a hold. */
    readonly wanted: WantedResources;
  }
  | {
    /** Worth reporting, and against nothing that is wanted. */
    readonly verdict: "note";
    readonly message: string;
  };

/** The verdict of a check; undefined: go on. */
export type Verdict<Reason extends string> =
  | undefined
  | Finding & { readonly reason: Reason };

/** One named check over the snapshot that its chain is given. */
export interface Check<Input, Reason extends string> {
  readonly name: string;
  readonly check: (input: Input, wanted: WantedResources) => Verdict<Reason>;
}

/** Takes out each pair, or part of one, that there is something against, and says what. */
export function withoutPairs<Reason extends string>(
  wanted: WantedResources,
  reason: Reason,
  { against }: {
    /** The objection to one pair: to all of it, or to all but `rest`; undefined: none. */
    readonly against: (
      entry: PairEntry,
    ) => string | { readonly problem: string; readonly rest: ResourcePair } | undefined;
  },
): Verdict<Reason> {
  const problems: string[] = [];
  const rest = pairsOf(wanted).flatMap((entry): readonly PairEntry[] => {
    const objection = against(entry);
    if (objection === undefined) return [entry];
    if (typeof objection === "string") {
      problems.push(objection);
      return [];
    }
    problems.push(objection.problem);
    return [{ ...entry, pair: objection.rest }];
  });
  if (problems.length === 0) return undefined;
  const message = [...new Set(problems)].join("; ");
  return { verdict: "clamp", reason, message, wanted: wantedOf(rest) };
}

/** The report of a check: a clamp, a note or a hold. */
export interface Report<Reason extends string> {
  readonly by: string;
  readonly reason: Reason;
  readonly message: string;
}

/** A check that holds. */
export interface Hold<Reason extends string> extends Report<Reason> {
  readonly retryAfterMs?: number;
  readonly yields?: true;
}

/** The result of a chain. */
export interface Outcome<Reason extends string> {
  /** The wanted values that are left. */
  readonly wanted: WantedResources;
  /** Clamps and notes in their order, each once. */
  readonly reports: readonly Report<Reason>[];
  readonly hold?: Hold<Reason>;
  /** False where the last pass has clamped still. */
  readonly settled: boolean;
}

/**
 * Asks every check in order. The first hold ends it; a clamp changes what is wanted and goes on. With
 * more passes than one all are asked again where one has clamped: a check far down may have taken out
 * what one before it had counted on, as a decrease that made room in a quota. Values that two checks
 * pull to and fro are left out.
 */
export function runChecks<Input, Reason extends string>(
  chain: readonly Check<Input, Reason>[],
  { input, wanted: values, passes = 1 }: {
    readonly input: Input;
    readonly wanted: WantedResources;
    /** @default {1} */
    readonly passes?: number;
  },
): Outcome<Reason> {
  const reports: Report<Reason>[] = [];
  let wanted = values;
  let changed = true;
  for (let pass = 0; changed && pass < passes; pass++) {
    changed = false;
    for (const { name: by, check } of chain) {
      const verdict = check(input, wanted);
      if (verdict === undefined) continue;
      if (verdict.verdict === "hold") {
        const { verdict: _hold, ...hold } = verdict;
        return { wanted, reports, hold: { by, ...hold }, settled: true };
      }
      const { reason, message } = verdict;
      const isAgain = reports.some((one) => one.by === by && one.message === message);
      if (verdict.verdict === "clamp") {
        const rest = isAgain ? unmoved(wanted, verdict.wanted) : verdict.wanted;
        if (rest.size === 0) {
          return { wanted, reports, hold: { by, reason, message }, settled: true };
        }
        wanted = rest;
        changed = true;
      }
      if (!isAgain) reports.push({ by, reason, message });
    }
  }
  return { wanted, reports, settled: !changed };
}

/** The pairs that are the same before and after. */
function unmoved(before: WantedResources, after: WantedResources): WantedResources {
  return wantedOf(
    pairsOf(before).filter(({ container, resource, pair: { request, limit } }) => {
      const now = pairsOf(after).find((one) =>
        one.container === container && one.resource === resource
      );
      return now?.pair.request === request && now?.pair.limit === limit;
    }),
  );
}
