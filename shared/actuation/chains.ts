/**
 * The chains of the actuator: what must hold before a limit is changed, in order.
 *
 * @module
 */
import type { Check, PodFacts } from "./check.ts";
import { agentIsSilent } from "./checks/agent_silent.ts";
import { alreadyThere } from "./checks/already_there.ts";
import { backingOff } from "./checks/backing_off.ts";
import { boundsAreStale } from "./checks/bounds_stale.ts";
import { identityDiffers } from "./checks/identity.ts";
import { copiesOutOfSync, oscillates } from "./checks/one_way.ts";
import { outsideBounds } from "./checks/outside_bounds.ts";
import { outsideLimitRange } from "./checks/limit_range.ts";
import { wouldWriteDefaults } from "./checks/limit_range_defaults.ts";
import { notRunning } from "./checks/not_running.ts";
import { outOfScope } from "./checks/out_of_scope.ts";
import { qosWouldChange } from "./checks/qos_class.ts";
import { overQuota } from "./checks/quota.ts";
import { rateLimited, resizedJustNow } from "./checks/rate_limited.ts";
import { resizeInProgress } from "./checks/resize_in_progress.ts";
import { restartsContainer } from "./checks/restarts_container.ts";
import { stepTooLarge } from "./checks/step_too_large.ts";
import { PLATFORM_RULES } from "./platform_rules.ts";

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
