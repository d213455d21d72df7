/**
 * The messages of bounds, apart from their numbers.
 *
 * @module
 */
import type { BoundRule } from "../../../shared/api/pod_allocation.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";

/**
 * Numbers move all the time where a quota is used or a metric asked, and the bounds hold those that
 * count. Those in names don't: `node-1`, `jobs2`.
 */
const NUMBER = /(?<![\w.-])\d+(?:\.\d+)?/g;

/**
 * Rules with the time of the last query in the message: it changes with each start of the controller.
 */
const VOLATILE: ReadonlySet<string> = new Set<BoundReason>(["MetricDemand"]);

/** Equal for messages that differ by numbers only. */
export function boundStory(rules: readonly BoundRule[] = []): string {
  return rules.filter(({ reason }) => !VOLATILE.has(reason))
    .map(({ reason, message }) => `${reason}: ${message.replace(NUMBER, "#")}`).join("\n");
}
