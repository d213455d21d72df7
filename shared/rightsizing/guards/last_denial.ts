/**
 * Has a policy engine just said no?
 *
 * @module
 */
import type { ContainerRecommendation } from "../recommend.ts";
import { isWorth } from "./change_threshold.ts";
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/**
 * Holds with the engine's own words until it may be asked again. A recommendation that differs from the
 * denied one by the policy's threshold is another wish, and asked for at once.
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
