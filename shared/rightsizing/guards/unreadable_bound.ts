/**
 * Is all known that bounds the workload?
 *
 * @module
 */
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds where an object that would bound the workload can't be read: the market holds then, too. */
export function boundUnreadable(
  { unreadable, verticalAutoscalers }: RightsizingFacts,
): GuardVerdict {
  const words = verticalAutoscalers.flatMap((one) => one.unreadable ?? []);
  const message = [...unreadable, ...words].join("; ");
  return message === "" ? undefined : { verdict: "hold", reason: "UnreadableBound", message };
}
