/**
 * Do pods keep their QoS class?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import type { GuardVerdict } from "./guard.ts";
import { keepClass } from "./keep_class.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { fittedSubjects } from "./subjects.ts";
import type { WantedResources } from "./wanted_resources.ts";

/** Clamps to what keeps the class of each pod, and of those to come; holds where nothing does. */
export function qosWouldChange(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const kept = keepClass(wanted, fittedSubjects(facts, methodFor(facts, wanted)));
  const reason = "QoSWouldChange";
  if ("problem" in kept) return { verdict: "hold", reason, message: kept.problem };
  if (kept.words.length === 0) return undefined;
  return { verdict: "clamp", reason, message: kept.words.join("; "), wanted: kept.wanted };
}
