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
  type GuardVerdict,
  appContainers,
  type RightsizingSnapshot,
} from "./rightsizing_snapshot.ts";
import { inPlacePlan, methodFor, presentSubjects } from "./method.ts";
import { isRollingOut } from "../../api/workload.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import { pairIn, subjectWanted } from "../../resize/inputs/subject.ts";

/**
 * Holds where there is no recommendation at all, and names the samples of all containers that lack some.
 * It is asked before the modes that only recommend: what they show would be nothing. A container that
 * lacks samples beside others has no recommendation, and is reported in each mode. A disabled policy has
 * nothing because it asks for nothing.
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
 * Holds where the permission for the method is known to be missing. It does not turn to the other
 * method: a policy that allows recreation allows it for what can't be done in place, not for want of a right.
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
 * Holds with the policy engine's message until it may be asked again. A recommendation that differs from the
 * denied one by the policy's threshold is another request, and made at once.
 */
export function lastDenialHolds(
  { denial, nowMs, recommendations, policy }: RightsizingSnapshot,
): GuardVerdict {
  if (denial === undefined || nowMs >= denial.retryAtMs) return undefined;
  const percent = policy.updateStrategy.changeThresholdPercent;
  const isAnother = recommendations.some((one) => {
    const denied = denial.recommendations.find(({ container }) => container === one.container);
    return (["cpu", "memory", "cpuLimit", "memoryLimit"] as const)
      .some((value) => reachesThreshold(denied?.[value], one[value], { percent }));
  });
  if (isAnother) return undefined;
  const { message, retryAtMs } = denial;
  return {
    verdict: "hold",
    reason: "AdmissionDenied",
    message: `${message}; it is asked again at ${timeText(retryAtMs)}`,
    retryAfterMs: retryAtMs - nowMs,
  };
}

/** Holds where an object that would bound the workload can't be read: the market holds then, too. */
export function boundUnreadable(
  { unreadable, verticalAutoscalers }: RightsizingSnapshot,
): GuardVerdict {
  const unreadableVPAs = verticalAutoscalers.flatMap((one) => one.unreadable ?? []);
  const message = [...unreadable, ...unreadableVPAs].join("; ");
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
 * Reports pods that do not have what the template was given, where nothing replaces them: strategy
 * `OnDelete`, a partition, or a rollout that has given up. It is no hold: pods get it as they are made
 * anew, by whomever.
 */
export function notRolledOut(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  const { workload: { kind, metadata: { name }, rollout }, inForce } = snapshot;
  if (!rollout.stands || methodFor(snapshot, wanted) !== "Recreate") return undefined;
  const { pods } = inPlacePlan(snapshot, inForce);
  const [first] = pods;
  if (first === undefined) return undefined;
  const message = `the template of ${kind} ${name} has values that ${pods.length} pods lack, ` +
    `${first.pod.metadata.name} among them, and nothing replaces them`;
  return { verdict: "note", reason: "NotRolledOut", message };
}

/**
 * Leaves out a resource of a container that differs by less than the policy's percentage of what is
 * there, in its request and in its limit. An equal value is left out whatever the percentage is, and
 * one that is not there at all is worth having. Where values of the resource are in force, they are
 * what is there: a pod that does not have them yet is to get them, and nothing new is decided for its
 * sake. Otherwise, it is what each pod has, and what those to come will have.
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
  // Pods to come get what is in force, and the template's values where nothing is.
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

/** |to − from| ≥ percent of `from`, and there is a difference at all. */
export function reachesThreshold(
  from: number | undefined,
  to: number | undefined,
  { percent }: { readonly percent: number },
): boolean {
  if (to === undefined || to === from) return false;
  return from === undefined || Math.abs(to - from) * 100 >= percent * from;
}

/**
 * Holds for the rest of the policy's cooldown. A last change in the future, after a clock was set back,
 * says nothing: waiting for it could take hours.
 */
export function coolingDown(
  { nowMs, lastAppliedMs, policy: { updateStrategy: { cooldownMs } } }: RightsizingSnapshot,
): GuardVerdict {
  if (lastAppliedMs === undefined || lastAppliedMs > nowMs) return undefined;
  const restMs = lastAppliedMs + cooldownMs - nowMs;
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "Cooldown",
    message: `the next change may come in ${Math.ceil(restMs / 1000)} s`,
    retryAfterMs: restMs,
  };
}
