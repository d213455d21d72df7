/**
 * The setting that says how priorities weigh.
 *
 * @module
 */
import { type Kind, kindOf } from "../../../shared/config/kinds.ts";
import { clampMultiplier, type PriorityStep } from "./priority_multiplier.ts";

/** `0:1,1000:2`: from priority 0 on the factor 1, from 1000 on 2. Empty: the built-in rule. */
export const priorityTableKind: Kind<readonly PriorityStep[]> = kindOf(
  "pairs of a priority and a factor from 0.1 to 10, ascending, for instance 0:1,1000:2",
  (text) => {
    const steps = text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "")
      .map(parseStep);
    if (!steps.every((step) => step !== undefined)) return undefined;
    const ascend = steps.every(({ from }, index) =>
      index === 0 || from > (steps[index - 1]?.from ?? 0)
    );
    return ascend ? steps : undefined;
  },
);

function parseStep(pair: string): PriorityStep | undefined {
  const [, from, factor] = /^(-?\d{1,10}):(\d+(?:\.\d+)?)$/.exec(pair) ?? [];
  const multiplier = Number(factor);
  if (from === undefined || clampMultiplier(multiplier) !== multiplier) return undefined;
  return { from: Number(from), multiplier };
}
