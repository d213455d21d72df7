/**
 * What set a pod's bounds, each said once.
 *
 * @module
 */
import { MOST_RULES } from "../../../shared/api/pod_allocation.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import type { Ceiling } from "./namespace_bounds.ts";

/** What set a bound, as this version tells it. */
export interface KnownRule {
  readonly reason: BoundReason;
  /** In a sentence, with its numbers. */
  readonly message: string;
}

/** Collects the words of a pod's bounds. Millicores. */
export interface BoundRules {
  /** What a rule says. */
  add(word: KnownRule): void;
  /** The lowest of the ceilings, and the floor, which it may not go below. */
  ceiling(
    container: string,
    bound: { readonly floor: number; readonly lowest: Ceiling },
  ): void;
  /** A floor for an HPA's signal that the ceiling cuts. */
  capped(
    container: string,
    bound: { readonly wanted: number; readonly ceiling: number },
  ): void;
  /** The words, and their sentences. */
  words(): { readonly reason: string; readonly rules: KnownRule[] };
}

/** Nothing said yet. */
export function createBoundRules(): BoundRules {
  const rules = new Map<string, KnownRule>();
  function add({ reason, message }: KnownRule): void {
    rules.set(`${reason} ${message}`, { reason, message });
  }
  return {
    add,
    ceiling(container, { floor, lowest: { ceiling, reason, source } }) {
      if (ceiling >= floor) {
        add({ reason, message: `${container} at most ${ceiling}m: ${source}` });
        return;
      }
      const message = `${container} stays at its floor, ${floor}m: ${source} would be ${ceiling}m`;
      add({ reason: "FloorBinds", message });
    },
    capped(container, { wanted, ceiling }) {
      const message = `${container} can't have the ${wanted}m that the HPA's signal needs: its ` +
        `ceiling is ${ceiling}m`;
      add({ reason: "HPACapped", message });
    },
    words() {
      const all = [...rules.values()];
      const reason = [...new Set(all.map((rule) => rule.reason))].join(", ");
      // A pod of many containers has as many ceilings; the words are whole all the same.
      return { reason, rules: all.slice(0, MOST_RULES) };
    },
  };
}
