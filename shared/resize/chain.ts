/**
 * The chain of checks: what must hold before a resize is sent, in order.
 *
 * @module
 */
import type { Pod } from "../api/pod.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import type { Check, EnforcementInput, PodFacts, WantedLimits } from "./check.ts";
import { alreadyThere } from "./checks/already_there.ts";
import { copiesOutOfSync, oscillates } from "./checks/direction.ts";
import { outsideLimitRange, wouldWriteDefaults } from "./checks/limit_range.ts";
import { backingOff, rateLimited, resizedJustNow, resizeInProgress } from "./checks/pace.ts";
import { agentIsSilent, identityDiffers, notRunning, outOfScope } from "./checks/participation.ts";
import { PLATFORM_RULES } from "./checks/platform.ts";
import { boundsAreStale, outsideBounds } from "./checks/published_bounds.ts";
import { containersWith, movesRequest, qosWouldChange } from "./checks/qos_class.ts";
import { overQuota } from "./checks/resource_quota.ts";
import { restartsContainer } from "./checks/restart_policy.ts";
import { stepTooLarge } from "./checks/step_too_large.ts";
import type { LimitChange } from "./patch.ts";

/** Who can never be resized. */
const PLATFORM: readonly Check<PodFacts>[] = PLATFORM_RULES.map(({ name, rule }) => ({
  name,
  check: ({ pod, node }) => {
    const found = pod === undefined ? undefined : rule({ pod, node });
    return found === undefined ? undefined : { verdict: "hold", ...found };
  },
}));

/**
 * For limits that the market wants. OutOfScope, AgentIsSilent and the platform's rules are a second
 * line: the controller turns to the restore chain where the first two would hold, and its scope knows
 * the platform's rules. Here they make sure that no caller who has not asked first moves such a pod.
 */
export const MARKET_CHAIN: readonly Check[] = [
  { name: "IdentityDiffers", check: identityDiffers },
  { name: "OutOfScope", check: outOfScope },
  { name: "AgentIsSilent", check: agentIsSilent },
  { name: "BoundsAreStale", check: boundsAreStale },
  { name: "OutsideBounds", check: outsideBounds },
  { name: "NotRunning", check: notRunning },
  ...PLATFORM,
  { name: "RestartsContainer", check: restartsContainer },
  { name: "AlreadyThere", check: alreadyThere },
  { name: "CopiesOutOfSync", check: copiesOutOfSync },
  { name: "Oscillates", check: oscillates },
  { name: "StepTooLarge", check: stepTooLarge },
  { name: "WouldWriteDefaults", check: wouldWriteDefaults("LimitRange") },
  { name: "OutsideLimitRange", check: outsideLimitRange },
  { name: "OverQuota", check: overQuota },
  // After all that clamps: what is sent is what counts.
  { name: "QoSWouldChange", check: qosWouldChange },
  { name: "ResizeInProgress", check: resizeInProgress },
  { name: "BackingOff", check: backingOff },
  { name: "ResizedJustNow", check: resizedJustNow },
  { name: "RateLimited", check: rateLimited },
];

/**
 * For the user's own limits coming back. Scope, silence and stale bounds are why they come back, so
 * they don't hold here; and the user's own value is not clamped, it is refused by the server or not.
 * Nor does the platform hold: whose limit was changed could be resized, so the server is asked again.
 * Whoever has the own limits already is done before it matters whether a change would restart it. What
 * the server would write into other containers holds here, too: unlike a raise, nobody could undo that.
 */
export const RESTORE_CHAIN: readonly Check[] = [
  { name: "IdentityDiffers", check: identityDiffers },
  { name: "NotRunning", check: notRunning },
  { name: "AlreadyThere", check: alreadyThere },
  { name: "RestartsContainer", check: restartsContainer },
  { name: "WouldWriteDefaults", check: wouldWriteDefaults("RestoreBlocked") },
  { name: "ResizeInProgress", check: resizeInProgress },
  { name: "BackingOff", check: backingOff },
  { name: "RateLimited", check: rateLimited },
];

/**
 * For limits that a person sets by hand. The person stands for what they want, so neither scope nor
 * bounds hold them; what the server or the kubelet would refuse does.
 */
export const MANUAL_CHAIN: readonly Check<PodFacts>[] = [
  { name: "NotRunning", check: notRunning },
  ...PLATFORM,
  { name: "RestartsContainer", check: restartsContainer },
  { name: "AlreadyThere", check: alreadyThere },
  { name: "WouldWriteDefaults", check: wouldWriteDefaults("LimitRange") },
  { name: "OutsideLimitRange", check: outsideLimitRange },
  { name: "OverQuota", check: overQuota },
  // After all that clamps: what is sent is what counts.
  { name: "QoSWouldChange", check: qosWouldChange },
  { name: "ResizeInProgress", check: resizeInProgress },
];

/** What the chain came to. */
export interface Decision {
  /** Containers to change now; empty when held. */
  readonly changes: readonly LimitChange[];
  /** The check that held or was the last to clamp; absent when none did. */
  readonly by?: string;
  readonly reason?: EnforcementReason;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/**
 * Asks every check in order. The first hold ends it; a clamp changes the wanted limits and goes on.
 * Only containers that differ from the pod's spec are changed; in a Guaranteed pod the request goes
 * with the limit.
 */
export function decide(chain: readonly Check[], input: EnforcementInput): Decision {
  const wanted = new Map<string, number>();
  for (const [name, { limitCPU }] of input.intents) wanted.set(name, limitCPU);
  return decideLimits(chain, input, wanted);
}

/**
 * What a person's own hand may set, through the checks that hold for everybody: `limits` in
 * millicores by container name. Nothing is sent; a clamp is told in `reason` and `message`.
 */
export function decideManually(facts: PodFacts, limits: WantedLimits): Decision {
  return decideLimits(MANUAL_CHAIN, facts, limits);
}

function decideLimits<Facts extends PodFacts>(
  chain: readonly Check<Facts>[],
  input: Facts,
  wanted: WantedLimits,
): Decision {
  let limits = wanted;
  let clamped: Omit<Decision, "changes"> = {};
  for (const { name, check } of chain) {
    const verdict = check(input, limits);
    if (verdict === undefined) continue;
    const { reason, message } = verdict;
    if (verdict.verdict === "hold") {
      const { retryAfterMs } = verdict;
      const held = { changes: [], by: name, reason, message };
      return retryAfterMs === undefined ? held : { ...held, retryAfterMs };
    }
    limits = verdict.limits;
    clamped = { by: name, reason, message };
  }
  return { changes: changesOf(input.pod, limits), ...clamped };
}

function changesOf(pod: Pod | undefined, limits: WantedLimits): readonly LimitChange[] {
  if (pod === undefined) return [];
  const moves = movesRequest(pod);
  return containersWith(pod, limits).flatMap((next, index): LimitChange[] => {
    const { name, sidecar, limitCPU, requestCPU } = next;
    const present = pod.containers[index];
    const same = limitCPU === present?.limitCPU && requestCPU === present?.requestCPU;
    if (same || limitCPU === undefined) return [];
    const change = { name, sidecar, limitCPU };
    return [moves && requestCPU !== undefined ? { ...change, requestCPU } : change];
  });
}
