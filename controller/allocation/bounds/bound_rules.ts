/**
 * The rules that set a pod's bounds, each once.
 *
 * @module
 */
import { MOST_RULES } from "../../../shared/api/pod_allocation.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import type { Ceiling } from "./namespace_bounds.ts";

/** A rule that set a bound, with a reason of this version. */
export interface KnownRule {
  readonly reason: BoundReason;
  /** In a sentence, with its numbers. */
  readonly message: string;
}

/** Collects the rules of a pod's bounds. Millicores. */
export interface BoundRules {
  /** Adds a rule. */
  add(rule: KnownRule): void;
  /** Adds the lowest ceiling, or the floor where that is higher. */
  ceiling(
    container: string,
    bound: { readonly floor: number; readonly lowest: Ceiling },
  ): void;
  /** Adds a floor for an HPA's signal that the ceiling cuts. */
  capped(
    container: string,
    bound: { readonly wanted: number; readonly ceiling: number },
  ): void;
  /** The reasons, separated by commas, and the rules. */
  summary(): { readonly reason: string; readonly rules: KnownRule[] };
}

/** Makes an empty collection. */
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
    summary() {
      const all = [...rules.values()];
      const reason = [...new Set(all.map((rule) => rule.reason))].join(", ");
      // A pod of many containers has as many ceilings; `reason` names all of them nevertheless.
      return { reason, rules: all.slice(0, MOST_RULES) };
    },
  };
}
