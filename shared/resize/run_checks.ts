/**
 * Runs a chain of named checks, each of which holds, clamps or passes the wanted values.
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

/** A verdict without its reason. */
export type Finding =
  | {
    readonly verdict: "hold";
    readonly message: string;
    /** When to check again; absent: after a change, or with the next cycle. */
    readonly retryAfterMs?: number;
    /** True where the check holds only because another has clamped the values before. */
    readonly yields?: true;
  }
  | {
    readonly verdict: "clamp";
    readonly message: string;
    /** The clamped values; without any left, the clamp is a hold. */
    readonly wanted: WantedResources;
  }
  | {
    /** A report that changes no wanted value. */
    readonly verdict: "note";
    readonly message: string;
  };

/** The verdict of a check; undefined: the values pass. */
export type Verdict<Reason extends string> =
  | undefined
  | Finding & { readonly reason: Reason };

/** A named check of a chain. */
export interface Check<Input, Reason extends string> {
  readonly name: string;
  readonly check: (input: Input, wanted: WantedResources) => Verdict<Reason>;
}

/** A clamp without the pairs, or parts of pairs, that meet an objection. */
export function withoutPairs<Reason extends string>(
  wanted: WantedResources,
  reason: Reason,
  { against }: {
    /** The objection to a pair as a whole, or to all of it but `rest`; undefined: none. */
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
  /** The values after all clamps. */
  readonly wanted: WantedResources;
  /** Clamps and notes in order, each once. */
  readonly reports: readonly Report<Reason>[];
  readonly hold?: Hold<Reason>;
  /** False where the last pass still clamped. */
  readonly settled: boolean;
}

/**
 * Runs the checks in order. The first hold ends the chain; after a clamp it continues with the clamped
 * values. With more than one pass the chain runs again after a clamp: a late check may have removed what
 * an earlier one relied on, such as a decrease that makes room in a quota. Values that a check clamps a
 * second time with the same message are left out.
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
        const rest = isAgain ? unchangedPairs(wanted, verdict.wanted) : verdict.wanted;
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

/** The pairs that the clamp has not changed. */
function unchangedPairs(before: WantedResources, after: WantedResources): WantedResources {
  return wantedOf(
    pairsOf(before).filter(({ container, resource, pair: { request, limit } }) => {
      const now = pairsOf(after).find((one) =>
        one.container === container && one.resource === resource
      );
      return now?.pair.request === request && now?.pair.limit === limit;
    }),
  );
}
