/**
 * Guards: do policy, configuration and permissions allow a change, is the workload idle, is the change large
 * enough, and is the last one long enough ago?
 *
 * @module
 */
import { timeText } from "../workload_record.ts";
import { NO_RESOURCES } from "../../api/pod.ts";
import {
  formatAmount,
  type PairEntry,
  pairOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import {
  appContainers,
  type GuardVerdict,
  type RightsizingSnapshot,
} from "./rightsizing_snapshot.ts";
import { inPlacePlan, methodFor, presentSubjects } from "./method.ts";
import { isRollingOut } from "../../api/workload.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import { pairIn, subjectWanted } from "../../resize/inputs/subject.ts";

/**
 * Holds where no container has a recommendation, and notes containers that lack samples beside others. It comes
 * before the guards of modes that only recommend, which would have nothing to show. A disabled policy asks for no
 * samples.
 */
export function samplesLacking(
  { policy: { mode, minSamples }, workload, samples }: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  if (mode === "Disabled") return undefined;
  // Without samples no percentile exists, whatever `minSamples` is.
  const need = Math.max(1, minSamples);
  const lacking = appContainers(workload)
    .map(({ name }) => ({ name, have: samples.get(name) ?? 0 }))
    .filter(({ have }) => have < need);
  if (wanted.size > 0 && lacking.length === 0) return undefined;
  const message = lacking.map(({ name, have }) => `${name} has ${have} of ${need} samples`)
    .join("; ") || "there is no recommendation";
  const verdict = wanted.size === 0 ? "hold" : "note";
  return { verdict, reason: "InsufficientSamples", message };
}

/** Holds in any mode but Auto. */
export function modeHolds({ policy: { mode } }: RightsizingSnapshot): GuardVerdict {
  if (mode === "Auto") return undefined;
  const reason = mode === "Disabled" ? "PolicyDisabled" : "RecommendOnly";
  return { verdict: "hold", reason, message: `the policy's mode is ${mode}` };
}

/** Holds while the configuration asks for a dry-run. */
export function dryRunHolds({ dryRun }: RightsizingSnapshot): GuardVerdict {
  if (!dryRun) return undefined;
  return { verdict: "hold", reason: "DryRun", message: "the configuration asks for a dry-run" };
}

/**
 * Holds where the permission for the method is known to be missing. It does not turn to the other method: a
 * policy allows recreation where a resize in place is impossible, not where a permission is missing.
 */
export function permissionMissing(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  const method = methodFor(snapshot, wanted);
  const missing = snapshot.missingPermissions.filter((one) => one.method === method);
  if (missing.length === 0) return undefined;
  const message = `missing: ${missing.map(({ permission }) => permission).join(", ")}`;
  return { verdict: "hold", reason: "RBACError", message };
}

/**
 * Holds with the policy engine's message until the change may be sent again. A recommendation that differs from
 * the denied one by the policy's threshold is sent at once.
 */
export function lastDenialHolds(
  { denial, nowMs, recommendations, policy }: RightsizingSnapshot,
): GuardVerdict {
  if (denial === undefined || nowMs >= denial.retryAtMs) return undefined;
  const percent = policy.updateStrategy.changeThresholdPercent;
  const differs = recommendations.some((one) => {
    const denied = denial.recommendations.find(({ container }) => container === one.container);
    return (["cpu", "memory", "cpuLimit", "memoryLimit"] as const)
      .some((value) => reachesThreshold(denied?.[value], one[value], { percent }));
  });
  if (differs) return undefined;
  const { message, retryAtMs } = denial;
  return {
    verdict: "hold",
    reason: "AdmissionDenied",
    message: `${message}; it is asked again at ${timeText(retryAtMs)}`,
    retryAfterMs: retryAtMs - nowMs,
  };
}

/** Holds where an object that bounds the workload can't be read, as the market does. */
export function boundUnreadable({ unreadable }: RightsizingSnapshot): GuardVerdict {
  const message = unreadable.join("; ");
  return message === "" ? undefined : { verdict: "hold", reason: "UnreadableBound", message };
}

/** Holds while the workload rolls out, and while its rollout is paused. */
export function rolloutHolds({ workload }: RightsizingSnapshot): GuardVerdict {
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
 * Notes pods that lack the template's values where no rollout replaces them: strategy `OnDelete`, a partition,
 * or a rollout that has given up. It does not hold: pods get the values whenever they are recreated.
 */
export function notRolledOut(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  const { workload: { kind, metadata: { name }, rollout }, inForce } = snapshot;
  if (!rollout.halted || methodFor(snapshot, wanted) !== "Recreate") return undefined;
  const { pods } = inPlacePlan(snapshot, inForce);
  const [first] = pods;
  if (first === undefined) return undefined;
  const message = `the template of ${kind} ${name} has values that ${pods.length} pods lack, ` +
    `${first.pod.metadata.name} among them, and nothing replaces them`;
  return { verdict: "note", reason: "NotRolledOut", message };
}

/**
 * Leaves out a resource of a container if request and limit both differ from the present ones by less than the
 * policy's percentage. An equal value is left out at 0 %, too; a value where there was none never is. Where
 * values of the resource are in force, these are the present ones: pods that lack them get them without a new
 * decision. Otherwise, the values of each pod and of new pods are.
 */
export function belowThreshold(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  const percent = snapshot.policy.updateStrategy.changeThresholdPercent;
  const method = methodFor(snapshot, wanted);
  const all = presentSubjects(snapshot, method).map((subject) => ({
    subject,
    next: subjectWanted(subject, wanted),
  }));
  // New pods get the values in force, or the template's where none are.
  const adopted = method === "Recreate"
    ? all
    : all.filter(({ subject }) => subject.nodeName === undefined);
  const differs = (entry: PairEntry): boolean => {
    const values = snapshot.inForce.get(entry.container) ?? NO_RESOURCES;
    const { request, limit } = pairOf(values, entry.resource);
    const compared = request === undefined && limit === undefined ? all : adopted;
    return compared.some(({ subject, next }) => {
      const [present = {}, after = {}] = [pairIn(subject, entry), pairIn(next, entry)];
      return reachesThreshold(present.request, after.request, { percent }) ||
        reachesThreshold(present.limit, after.limit, { percent });
    });
  };
  const verdict = withoutPairs(wanted, "BelowThreshold", {
    against(entry) {
      if (differs(entry)) return undefined;
      const { container, resource, pair: { request, limit } } = entry;
      const amount = formatAmount(resource, request ?? limit ?? 0);
      return `${container} ${resource} ${amount} differs by less than ${percent} %`;
    },
  });
  if (verdict?.verdict !== "clamp" || verdict.wanted.size > 0) return verdict;
  const { reason, message } = verdict;
  return { verdict: "hold", reason, message, yields: true };
}

/** True where |to − from| ≥ percent of `from`, and the values differ. */
export function reachesThreshold(
  from: number | undefined,
  to: number | undefined,
  { percent }: { readonly percent: number },
): boolean {
  if (to === undefined || to === from) return false;
  return from === undefined || Math.abs(to - from) * 100 >= percent * from;
}

/**
 * Holds for the rest of the policy's cooldown. A last change in the future, after a clock was set back, does not
 * count, as the wait could take hours.
 */
export function coolingDown(
  { nowMs, lastAppliedMs, policy: { updateStrategy: { cooldownMs } } }: RightsizingSnapshot,
): GuardVerdict {
  if (lastAppliedMs === undefined || lastAppliedMs > nowMs) return undefined;
  const remainingMs = lastAppliedMs + cooldownMs - nowMs;
  if (remainingMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "Cooldown",
    message: `the next change may come in ${Math.ceil(remainingMs / 1000)} s`,
    retryAfterMs: remainingMs,
  };
}
