/**
 * Is there a way to do it?
 *
 * @module
 */
import {
  type Disruption,
  disruptions,
  inPlaceProblem,
  methodFor,
  openMethod,
} from "../../actuation/methods/choose_method.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Holds where neither method is open. Where only that in place is, values that it could not set without
 * a restart are left out, resource by resource.
 */
export function noMethod(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { allowInPlaceResize, allowRecreate } = facts.policy.updateStrategy;
  if (!allowInPlaceResize && !allowRecreate) {
    const message = "allowInPlaceResize and allowRecreate are both false";
    return { verdict: "hold", reason: "MethodNotAllowed", message };
  }
  if (openMethod(facts) === undefined) {
    const message = `${inPlaceProblem(facts) ?? "no way is open"}, and allowRecreate is false`;
    return { verdict: "hold", reason: "InPlaceResizeUnavailable", message };
  }
  return methodFor(facts, wanted) === "Recreate" ? undefined : withoutDisruptions(facts, wanted);
}

/**
 * As `noMethod()`, for pods that are to have what is in force: nobody is recreated for that, so what is
 * open is the way in place, or none.
 */
export function noWayInPlace(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const nobody = "nobody is recreated for what is in force";
  if (!facts.policy.updateStrategy.allowInPlaceResize) {
    const message = `allowInPlaceResize is false, and ${nobody}`;
    return { verdict: "hold", reason: "MethodNotAllowed", message };
  }
  const problem = inPlaceProblem(facts);
  if (problem === undefined) return withoutDisruptions(facts, wanted);
  const message = `${problem}, and ${nobody}`;
  return { verdict: "hold", reason: "InPlaceResizeUnavailable", message };
}

function withoutDisruptions(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const found = disruptions(facts, wanted);
  const [first] = found;
  if (first === undefined) return undefined;
  return withoutPairs(wanted, first.reason, {
    against: ({ container, resource }) =>
      found.find((one: Disruption) => one.container === container && one.resource === resource)
        ?.message,
  });
}
