/**
 * Guard: is there a way to apply it, in place or by recreation?
 *
 * @module
 */
import { PLATFORM_RULES } from "../../resize/checks/platform.ts";
import {
  disruptions,
  type DisruptionsAsked,
  disruptionVerdict,
} from "../../resize/checks/restart_policy.ts";
import type { WantedResources } from "../../resize/inputs/resources.ts";
import type { ApplyMethod, GuardVerdict, RightsizingFacts } from "./rightsizing_facts.ts";
import { presentSubjects } from "./subjects.ts";

/** Why the pods can't be resized in place; undefined when they can. Whether they may is not asked. */
export function inPlaceProblem(
  { resizeServed, pods, nodes }: RightsizingFacts,
): string | undefined {
  if (!resizeServed) return "the server does not serve pods/resize";
  for (const pod of pods) {
    for (const { rule } of PLATFORM_RULES) {
      const found = rule({ pod, node: nodes.get(pod.nodeName) });
      if (found !== undefined) return `pod ${pod.metadata.name}: ${found.message}`;
    }
  }
  return undefined;
}

/** The way that policy and platform leave open, whatever is wanted; undefined: none. */
export function openMethod(facts: RightsizingFacts): ApplyMethod | undefined {
  const { allowInPlaceResize, allowRecreate } = facts.policy.updateStrategy;
  if (allowInPlaceResize && inPlaceProblem(facts) === undefined) return "InPlace";
  return allowRecreate ? "Recreate" : undefined;
}

/** The way for these values: what can't be done in place without a restart takes new pods, where allowed. */
export function methodFor(
  facts: RightsizingFacts,
  wanted: WantedResources,
): ApplyMethod | undefined {
  const open = openMethod(facts);
  const { allowRecreate } = facts.policy.updateStrategy;
  if (open === "InPlace" && allowRecreate && disruptions(wanted, running(facts)).length > 0) {
    return "Recreate";
  }
  return open;
}

/** Pods that run, and whether their memory limits may be lowered. */
function running(facts: RightsizingFacts): DisruptionsAsked {
  const { lowersMemoryLimits } = facts;
  const subjects = presentSubjects(facts, "InPlace").filter(({ nodeName }) =>
    nodeName !== undefined
  );
  return { subjects, lowersMemoryLimits };
}

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
  return methodFor(facts, wanted) === "Recreate"
    ? undefined
    : disruptionVerdict(wanted, running(facts));
}

/**
 * As `noMethod()`, for pods that are to have what is in force: no pod is recreated for that, so what is
 * open is the way in place, or none.
 */
export function noWayInPlace(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const inPlaceOnly = "no pod is recreated for what is in force";
  if (!facts.policy.updateStrategy.allowInPlaceResize) {
    const message = `allowInPlaceResize is false, and ${inPlaceOnly}`;
    return { verdict: "hold", reason: "MethodNotAllowed", message };
  }
  const problem = inPlaceProblem(facts);
  if (problem === undefined) return disruptionVerdict(wanted, running(facts));
  const message = `${problem}, and ${inPlaceOnly}`;
  return { verdict: "hold", reason: "InPlaceResizeUnavailable", message };
}
