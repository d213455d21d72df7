/**
 * The chain of checks: what must hold before a resize of a pod is sent, in order.
 *
 * @module
 */
import { NO_RESOURCES, type Pod } from "../api/pod.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import { GRID } from "../quantity.ts";
import {
  agentIsSilent,
  alreadyThere,
  backingOff,
  identityDiffers,
  notRunning,
  outOfScope,
  resizedJustNow,
  resizeInProgress,
} from "./checks/pod_state.ts";
import { copiesOutOfSync, oscillates, stepTooLarge } from "./checks/limit_step.ts";
import { defaultsProblem, rangeVerdict } from "./checks/limit_range.ts";
import { PLATFORM_RULES } from "./checks/platform.ts";
import { boundsAreStale, outsideBounds } from "./checks/published_bounds.ts";
import { classVerdict } from "./checks/qos_class.ts";
import { quotaVerdict } from "./checks/resource_quota.ts";
import { disruptionVerdict } from "./checks/restart_policy.ts";
import { type Check, runChecks } from "./run_checks.ts";
import { movesRequest } from "./inputs/qos.ts";
import {
  type ClaimFacts,
  type EnforcementInput,
  hasSameCPU,
  heldWhereNothingIsLeft,
  type PodFacts,
} from "./inputs/resize_input.ts";
import type { WantedResources } from "./inputs/resources.ts";
import { containersWanted, limitsWanted, marketSubject } from "./inputs/subject.ts";
import type { ClaimSource, LimitChange } from "./patch.ts";

/** A check that asks no more of a pod than what the API reports. */
export type PodCheck = Check<PodFacts, EnforcementReason>;

/** A check of a claim that a controller has made. */
export type ClaimCheck = Check<ClaimFacts, EnforcementReason>;

/** The pods that can never be resized. */
const PLATFORM: readonly PodCheck[] = PLATFORM_RULES.map(({ name, rule }) => ({
  name,
  check(facts) {
    const found = rule(facts);
    return found && { verdict: "hold", ...found };
  },
}));

/** Leaves out containers that a CPU change restarts. */
const restartsContainer: PodCheck["check"] = ({ pod }, wanted) => {
  const restarts = disruptionVerdict(wanted, { subjects: [marketSubject(pod)] });
  const verdict = heldWhereNothingIsLeft(restarts, pod);
  return verdict && { ...verdict, reason: "RestartPolicy" };
};

function wouldWriteDefaults(reason: EnforcementReason): PodCheck["check"] {
  return ({ pod, limitRange }) => {
    const message = defaultsProblem(pod, limitRange);
    return message === undefined ? undefined : { verdict: "hold", reason, message };
  };
}

const outsideLimitRange: PodCheck["check"] = ({ pod, limitRange: ranges }, wanted) =>
  rangeVerdict(wanted, { ranges, subjects: [marketSubject(pod)], step: GRID });

const overQuota: PodCheck["check"] = ({ pod, quotaHeadroom: room, quotaName }, wanted) => {
  if (room === undefined) return undefined;
  const sides = movesRequest(pod) ? ["requests", "limits"] as const : ["limits"] as const;
  const quotas = sides.map((of) => ({ name: quotaName, resource: "cpu" as const, of, room }));
  const asked = { quotas, subjects: [marketSubject(pod)], step: GRID };
  return heldWhereNothingIsLeft(quotaVerdict(wanted, asked), pod);
};

const qosWouldChange: PodCheck["check"] = ({ pod }, wanted) =>
  classVerdict(wanted, [marketSubject(pod)]);

/** Sources of claims that go through the chain. */
type ChainSource = Exclude<ClaimSource, "rightsizing">;

/** A check, and the sources of the claims that it is asked about. */
type Row =
  | readonly [sources: readonly ("market" | "restore")[], check: ClaimCheck]
  | readonly [sources: readonly ChainSource[], check: PodCheck];

const ALL: readonly ChainSource[] = ["market", "restore", "manual"];
const NOT_RESTORE: readonly ChainSource[] = ["market", "manual"];

/**
 * - `market`: OutOfScope, AgentIsSilent and the platform's rules are a second line: the controller turns
 *   to a restore where the first two would hold, and its scope knows the platform's rules. Here they
 *   make sure that no caller that has not asked first moves such a pod.
 * - `restore`: the user's original limits come back. Scope, silence and stale bounds are why they come
 *   back, so they don't hold here; and the user's own value is not clamped, it is refused by the server
 *   or not. Nor does the platform hold: a pod with a changed limit could be resized, so the server is
 *   asked again. What the server would write into other containers holds here, too: unlike a raise,
 *   nothing could undo that.
 * - `manual`: a person answers for what they set, so neither scope nor bounds hold it; what the server or
 *   the kubelet would refuse does.
 */
const CHAIN: readonly Row[] = [
  [["market", "restore"], { name: "IdentityDiffers", check: identityDiffers }],
  [["market"], { name: "OutOfScope", check: outOfScope }],
  [["market"], { name: "AgentIsSilent", check: agentIsSilent }],
  [["market"], { name: "BoundsAreStale", check: boundsAreStale }],
  [["market"], { name: "OutsideBounds", check: outsideBounds }],
  [ALL, { name: "NotRunning", check: notRunning }],
  ...PLATFORM.map((check): Row => [NOT_RESTORE, check]),
  // A pod that has the values is done before it matters whether a change would restart it.
  [ALL, { name: "AlreadyThere", check: alreadyThere }],
  [ALL, { name: "RestartsContainer", check: restartsContainer }],
  [["market"], { name: "CopiesOutOfSync", check: copiesOutOfSync }],
  [["market"], { name: "Oscillates", check: oscillates }],
  [["market"], { name: "StepTooLarge", check: stepTooLarge }],
  [NOT_RESTORE, { name: "WouldWriteDefaults", check: wouldWriteDefaults("LimitRange") }],
  [["restore"], { name: "WouldWriteDefaults", check: wouldWriteDefaults("RestoreBlocked") }],
  [NOT_RESTORE, { name: "OutsideLimitRange", check: outsideLimitRange }],
  [NOT_RESTORE, { name: "OverQuota", check: overQuota }],
  // After all that clamps: what is sent is what counts.
  [NOT_RESTORE, { name: "QoSWouldChange", check: qosWouldChange }],
  [ALL, { name: "ResizeInProgress", check: resizeInProgress }],
  [["market", "restore"], { name: "BackingOff", check: backingOff }],
  [["market"], { name: "ResizedJustNow", check: resizedJustNow }],
];

function chainOf(source: ChainSource): readonly ClaimCheck[] {
  return CHAIN.flatMap(([sources, check]) => sources.some((one) => one === source) ? [check] : []);
}

/** For limits that the market wants. */
export const MARKET_CHAIN: readonly ClaimCheck[] = chainOf("market");

/** For the user's original limits coming back. */
export const RESTORE_CHAIN: readonly ClaimCheck[] = chainOf("restore");

/** For limits that a person sets by hand: rows of a person have checks of the pod alone. */
export const MANUAL_CHAIN: readonly PodCheck[] = chainOf("manual") as readonly PodCheck[];

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
 * Asks every check in order. The first hold ends it; a clamp changes the wanted values and goes on.
 * Only containers that differ from the pod's spec are changed; in a Guaranteed pod the request goes
 * with the limit.
 */
export function decide(
  chain: readonly ClaimCheck[],
  { pod, claims, ...facts }: EnforcementInput,
): Decision {
  if (pod !== undefined) return decideLimits(chain, { ...facts, pod }, claims);
  const message = `pod ${facts.allocation.spec.podName} does not exist`;
  return { changes: [], by: "IdentityDiffers", reason: "PodGone", message };
}

/**
 * What a person may set by hand, through the checks that hold for every source: `limits` in millicores by
 * container name. Nothing is sent; a clamp is reported in `reason` and `message`.
 */
export function decideManually(facts: PodFacts, limits: ReadonlyMap<string, number>): Decision {
  return decideLimits(MANUAL_CHAIN, facts, limits);
}

function decideLimits<Facts extends PodFacts>(
  chain: readonly Check<Facts, EnforcementReason>[],
  facts: Facts,
  limits: EnforcementInput["claims"],
): Decision {
  const { pod } = facts;
  const { hold, wanted, reports } = runChecks(chain, { facts, wanted: limitsWanted(pod, limits) });
  return hold === undefined
    ? { changes: changesOf(pod, wanted), ...reports.at(-1) }
    : { changes: [], ...hold };
}

function changesOf(pod: Pod, wanted: WantedResources): readonly LimitChange[] {
  const moves = movesRequest(pod);
  return containersWanted(marketSubject(pod), wanted).flatMap((next, index): LimitChange[] => {
    const { name, sidecar, limits: { cpu }, requests } = next;
    if (cpu === undefined || hasSameCPU(next, pod.containers[index] ?? NO_RESOURCES)) return [];
    const request = moves && requests.cpu !== undefined ? { cpu: requests.cpu } : {};
    return [{ name, sidecar, requests: request, limits: { cpu } }];
  });
}
