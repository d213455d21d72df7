/**
 * Guards: do policy, configuration and permissions allow a change, and is enough known for one?
 *
 * @module
 */
import type { WantedResources } from "../../resize/inputs/resources.ts";
import type { ContainerRecommendation } from "../recommend.ts";
import { ownContainers } from "../rightsized_workload.ts";
import { methodFor } from "./method.ts";
import { isWorth } from "./pace_guards.ts";
import type { GuardVerdict, RightsizingFacts } from "./rightsizing_facts.ts";

/**
 * Holds where there is no recommendation at all, and names the samples of all containers that lack some.
 * It is asked before the modes that only recommend: what they show would be nothing. A container that
 * lacks samples beside others has no recommendation, and is reported in each mode. A disabled policy has
 * nothing because it asks for nothing.
 */
export function samplesLacking(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { policy: { mode }, workload } = facts;
  if (mode === "Disabled") return undefined;
  const lacking = ownContainers(workload).flatMap(({ name }) => lackOf(name, facts) ?? []);
  if (wanted.size > 0 && lacking.length === 0) return undefined;
  const message = lacking.length === 0 ? "there is no recommendation" : lacking.join("; ");
  const verdict = wanted.size === 0 ? "hold" : "note";
  return { verdict, reason: "InsufficientSamples", message };
}

/** Of nothing there is no percentile, whatever a policy may say. */
function lackOf(
  container: string,
  { policy: { minSamples }, samples }: RightsizingFacts,
): string | undefined {
  const have = samples.get(container) ?? 0;
  const need = Math.max(1, minSamples);
  return have < need ? `${container} has ${have} of ${need} samples` : undefined;
}

/** Holds in any mode but Auto. */
export function modeHolds({ policy: { mode } }: RightsizingFacts): GuardVerdict {
  if (mode === "Auto") return undefined;
  const reason = mode === "Disabled" ? "PolicyDisabled" : "RecommendOnly";
  return { verdict: "hold", reason, message: `the policy's mode is ${mode}` };
}

/** Holds while the configuration asks for a dry-run. */
export function dryRunHolds({ dryRun }: RightsizingFacts): GuardVerdict {
  if (!dryRun) return undefined;
  return { verdict: "hold", reason: "DryRun", message: "the configuration asks for a dry-run" };
}

/**
 * Holds where the permission for the method is known to be missing. It does not turn to the other
 * method: a policy that allows recreation allows it for what can't be done in place, not for want of a right.
 */
export function permissionMissing(
  facts: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const method = methodFor(facts, wanted);
  const missing = facts.missingPermissions.filter((one) => one.method === method);
  if (missing.length === 0) return undefined;
  const message = `missing: ${missing.map(({ permission }) => permission).join(", ")}`;
  return { verdict: "hold", reason: "RBACError", message };
}

/**
 * Holds with the engine's own words until it may be asked again. A recommendation that differs from the
 * denied one by the policy's threshold is another request, and made at once.
 */
export function lastDenialHolds(
  { denial, nowMs, recommendations, policy }: RightsizingFacts,
): GuardVerdict {
  if (denial === undefined || nowMs >= denial.retryAtMs) return undefined;
  const percent = policy.updateStrategy.changeThresholdPercent;
  if (isAnother(denial.recommendations, recommendations, { percent })) return undefined;
  const { message, retryAtMs } = denial;
  return {
    verdict: "hold",
    reason: "AdmissionDenied",
    message: `${message}; it is asked again at ${new Date(retryAtMs).toISOString()}`,
    retryAfterMs: retryAtMs - nowMs,
  };
}

const VALUES = ["cpu", "memory", "cpuLimit", "memoryLimit"] as const;

function isAnother(
  before: readonly ContainerRecommendation[],
  now: readonly ContainerRecommendation[],
  threshold: { readonly percent: number },
): boolean {
  return now.some((one) => {
    const denied = before.find(({ container }) => container === one.container);
    return VALUES.some((value) => isWorth(denied?.[value], one[value], threshold));
  });
}

/** Holds where an object that would bound the workload can't be read: the market holds then, too. */
export function boundUnreadable(
  { unreadable, verticalAutoscalers }: RightsizingFacts,
): GuardVerdict {
  const words = verticalAutoscalers.flatMap((one) => one.unreadable ?? []);
  const message = [...unreadable, ...words].join("; ");
  return message === "" ? undefined : { verdict: "hold", reason: "UnreadableBound", message };
}
