/**
 * The rules of a pod's bounds as text. Pure.
 *
 * @module
 */
import { type Hold, holdOf } from "../../../shared/api/reasons/bound_holds.ts";
import { setsCeiling } from "../../../shared/api/reasons/ceiling_reasons.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import type { BoundRule } from "../../../shared/api/pod_allocation.ts";
import type { ExplainedBounds } from "./explanation.ts";

const HOLD_TEXTS: Readonly<Record<Hold, string>> = {
  half: "held, lowered by half steps only",
  lower: "held, not to be lowered",
  both: "held as it is",
};

/** Each rule with its sentence, its numbers and what can be done about it, a line each. */
export function ruleLines({ rules = [] }: ExplainedBounds): readonly string[] {
  return rules.flatMap(({ reason, message }) => {
    const remedy = remedyFor(reason);
    return [
      `${reason}: ${sentenceOf(reason)} (${message})`,
      ...(remedy === undefined ? [] : [`what to do: ${remedy}`]),
    ];
  });
}

/** How the limit is held and by which rules; an allocation of an older version names none. */
export function holdText(hold: Hold, { rules = [] }: Pick<ExplainedBounds, "rules">): string {
  const reasons = rulesThatHold(hold, rules).map(({ reason }) => reason);
  return [HOLD_TEXTS[hold], [...new Set(reasons)].join(", ")].filter(Boolean).join(": ");
}

/** The rules with reasons that hold a limit in this way. */
export function rulesThatHold(hold: Hold, rules: readonly BoundRule[]): readonly BoundRule[] {
  return rules.filter(({ reason }) => holdOf(reason) === hold);
}

/** The rule that sets the container's ceiling; such a rule's sentence begins with its name. */
export function ceilingRule(
  container: string,
  { rules = [] }: Pick<ExplainedBounds, "rules">,
): BoundRule | undefined {
  const ceilings = rules.filter(({ reason }) => setsCeiling(reason));
  return ceilings.find(({ message }) => message.startsWith(`${container} `));
}
