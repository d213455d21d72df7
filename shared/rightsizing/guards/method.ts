/**
 * Guard: is there a way to apply it, in place or by recreation?
 *
 * @module
 */
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import { PLATFORM_RULES } from "../../resize/checks/platform.ts";
import { type PairEntry, pairOf, pairsOf, type WantedResources } from "../../resize/resources.ts";
import { containersWanted } from "../../resize/subject.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { ApplyMethod, RightsizingFacts } from "./rightsizing_facts.ts";
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
  if (open === "InPlace" && allowRecreate && disruptions(facts, wanted).length > 0) {
    return "Recreate";
  }
  return open;
}

/** A pair that a resize in place would restart a container for, or that the server would refuse. */
export interface Disruption extends PairEntry {
  readonly reason: Extract<RightsizingReason, "RestartPolicy" | "MemoryLimitLocked">;
  readonly message: string;
}

/** All such pairs; values that a pod has already disrupt nobody. */
export function disruptions(
  facts: RightsizingFacts,
  wanted: WantedResources,
): readonly Disruption[] {
  const running = presentSubjects(facts, "InPlace").filter(({ nodeName }) =>
    nodeName !== undefined
  );
  return pairsOf(wanted).flatMap((entry): Disruption[] => {
    for (const subject of running) {
      const index = subject.containers.findIndex(({ name }) => name === entry.container);
      const present = subject.containers[index];
      const next = containersWanted(subject, wanted)[index];
      if (present === undefined || next === undefined) continue;
      const { resource, container } = entry;
      const [before, after] = [pairOf(present, resource), pairOf(next, resource)];
      if (before.request === after.request && before.limit === after.limit) continue;
      const restarts = resource === "cpu" ? present.restartsOnCPU : present.restartsOnMemory;
      if (restarts) {
        const message = `resizePolicy restarts ${container} on a change of ${resource}`;
        return [{ ...entry, reason: "RestartPolicy", message }];
      }
      const lowers = (after.limit ?? 0) < (before.limit ?? 0);
      if (resource === "memory" && lowers && !facts.lowersMemoryLimits) {
        const message = `the server does not lower the memory limit of ${container} in place`;
        return [{ ...entry, reason: "MemoryLimitLocked", message }];
      }
    }
    return [];
  });
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
