/**
 * Guards: are the pods about to be replaced, and has the template kept what was written into it?
 *
 * @module
 */
import { NO_RESOURCES } from "../../api/pod.ts";
import { isRollingOut } from "../../api/workload.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import {
  formatAmount,
  pairOf,
  type ResourcePair,
  wantedOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import type { WrittenOver } from "../workload_record.ts";
import { inPlacePlan } from "./in_place_plan.ts";
import { methodFor } from "./method.ts";
import { isWorth } from "./pace_guards.ts";
import type { GuardVerdict, RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds while the workload rolls out, and while its rollout is paused. */
export function rolloutHolds({ workload }: RightsizingFacts): GuardVerdict {
  const { kind, metadata: { name }, paused, rollout } = workload;
  if (paused) {
    const message = `the rollout of ${kind} ${name} is paused`;
    return { verdict: "hold", reason: "RolloutPaused", message };
  }
  if (!isRollingOut(rollout)) return undefined;
  const { updated, total } = rollout;
  const message = `${kind} ${name} rolls out: ${updated} of ${total} pods are new`;
  return { verdict: "hold", reason: "RolloutInProgress", message };
}

/**
 * Reports pods that do not have what the template was given, where nothing replaces them: strategy
 * `OnDelete`, a partition, or a rollout that has given up. It is no hold: pods get it as they are made
 * anew, by whomever.
 */
export function notRolledOut(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { workload: { kind, metadata: { name }, rollout }, inForce } = facts;
  if (!rollout.stands || methodFor(facts, wanted) !== "Recreate") return undefined;
  const { pods } = inPlacePlan(facts, inForce);
  const [first] = pods;
  if (first === undefined) return undefined;
  const message = `the template of ${kind} ${name} has values that ${pods.length} pods lack, ` +
    `${first.pod.metadata.name} among them, and nothing replaces them`;
  return { verdict: "note", reason: "NotRolledOut", message };
}

/** The first wait, ms: a day. */
const FIRST_WAIT_MS = 86_400_000;

/** Doublings of the wait: it is 32 days at most. */
const MOST_DOUBLINGS = 5;

/**
 * Leaves out what was written into the template before, is not there any more, and would hardly differ
 * if it were written again: a tool that applies manifests takes it back each time, and each time is a
 * rollout, or two. What is recommended anew by more than the policy's threshold is tried once more; what
 * is there already but for less than that is for the threshold. What could go in place without the others
 * is not held either: it does once they are out.
 *
 * A release that is applied once takes it back, too, and is no tool that heals: after a day it is tried
 * once more. Each time that it is taken back within a day the wait doubles: 1, 2, 4, … 32 days.
 */
export function takenBack(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { nowMs, remembered = [], workload, policy } = facts;
  if (remembered.length === 0 || methodFor(facts, wanted) !== "Recreate") return undefined;
  const percent = policy.updateStrategy.changeThresholdPercent;
  const isWorthIt = (from: ResourcePair, to: ResourcePair): boolean =>
    isWorth(from.request, to.request, { percent }) || isWorth(from.limit, to.limit, { percent });
  return withoutPairs(wanted, "TakenBack", {
    against({ container, resource, pair }) {
      const over = remembered.find((one) => one.container === container)?.written?.[resource];
      const untilMs = over === undefined ? undefined : waitEnd(over);
      if (over === undefined || untilMs === undefined || nowMs >= untilMs) return undefined;
      const { pair: written } = over;
      const present = workload.template.containers.find(({ name }) => name === container);
      const now = pairOf(present ?? NO_RESOURCES, resource);
      if (!differs(written, now) || !isWorthIt(now, pair)) return undefined;
      if (isWorthIt(written, pair)) return undefined;
      const alone = wantedOf([{ container, resource, pair }]);
      if (methodFor(facts, alone) !== "Recreate") return undefined;
      const amount = formatAmount(resource, written.request ?? written.limit ?? 0);
      return `${container} ${resource} ${amount} was written into the template and is not there any ` +
        `more; it is tried again after ${new Date(untilMs).toISOString()}`;
    },
  });
}

/** When it may be written again, ms since 1970; undefined where it stands. */
function waitEnd({ takenBackAtMs, times }: WrittenOver): number | undefined {
  if (takenBackAtMs === undefined) return undefined;
  return takenBackAtMs + FIRST_WAIT_MS * 2 ** Math.min(Math.max(times - 1, 0), MOST_DOUBLINGS);
}

/** Of what was written: what was left as it was may be anything. */
function differs(written: ResourcePair, now: ResourcePair): boolean {
  return (written.request !== undefined && written.request !== now.request) ||
    (written.limit !== undefined && written.limit !== now.limit);
}
