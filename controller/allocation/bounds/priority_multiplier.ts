/**
 * How a pod's priority weighs in the market.
 *
 * @module
 */
import { type Kind, kindOf } from "../../../shared/config/kinds.ts";

const LEAST = 0.1;
const MOST = 10;

/** Priorities up to this one weigh 1. */
const NEUTRAL_PRIORITY = 1000;

/** A multiplier within [0.1, 10]. */
export function clampMultiplier(multiplier: number): number {
  return Math.min(MOST, Math.max(LEAST, multiplier));
}

/** A row of the configuration's table: from this priority on, this multiplier. */
export interface PriorityStep {
  readonly from: number;
  readonly multiplier: number;
}

/**
 * 1 up to priority 1000 and without a class, 1 + 0.5·log2(p / 1000) above (2000 → 1.5, 4000 → 2,
 * 10^6 → 6), 0.5 below 0. A table with rows, in ascending order, replaces this: below its first row
 * the multiplier is 1.
 */
export function priorityMultiplier(
  priority: number,
  table: readonly PriorityStep[] = [],
): number {
  if (table.length > 0) {
    return clampMultiplier(table.findLast(({ from }) => priority >= from)?.multiplier ?? 1);
  }
  if (priority < 0) return 0.5;
  if (priority <= NEUTRAL_PRIORITY) return 1;
  return clampMultiplier(1 + 0.5 * Math.log2(priority / NEUTRAL_PRIORITY));
}

/** `0:1,1000:2`: from priority 0 on the factor 1, from 1000 on 2. Empty: the built-in rule. */
export const priorityTableKind: Kind<readonly PriorityStep[]> = kindOf(
  "pairs of a priority and a factor from 0.1 to 10, ascending, for instance 0:1,1000:2",
  (text) => {
    const steps = text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "")
      .map(parseStep);
    if (!steps.every((step) => step !== undefined)) return undefined;
    const ascend = steps.every(({ from }, index) => from > (steps[index - 1]?.from ?? -Infinity));
    return ascend ? steps : undefined;
  },
);

function parseStep(pair: string): PriorityStep | undefined {
  const [, from, factor] = /^(-?\d{1,10}):(\d+(?:\.\d+)?)$/.exec(pair) ?? [];
  const multiplier = Number(factor);
  if (from === undefined || clampMultiplier(multiplier) !== multiplier) return undefined;
  return { from: Number(from), multiplier };
}
