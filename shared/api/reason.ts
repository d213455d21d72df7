/**
 * The reason words: why a limit is what it is, or why it was not changed. One list for objects,
 * events, metrics, command line and docs.
 *
 * @module
 */
import * as z from "zod";

/** Why the market wants this limit; written by the agent. */
export const MARKET_REASONS = {
  FirstClearing: "the pod takes part for the first time",
  Throttled: "the container was held back by its limit",
  DemandRose: "the container's demand rose above its limit",
  DemandFell: "the container has needed less for the waiting time",
  LoanGiven: "idle CPU of the node is lent to the container",
  LoanTakenBack: "another container needs the CPU that was lent",
  FundsRaise:
    "another container's raise is paid for with what this one has above its estimated need",
  NodeCongested: "the node's containers need more than it has: the limit is the fair share",
  NodeOverloaded: "the floors alone exceed the node: limits stay at their floors",
  FloorRose: "the container's floor was raised",
  CeilingFell: "the container's ceiling was lowered",
} as const;

/** A word of {@linkcode MARKET_REASONS}. */
export type MarketReason = keyof typeof MARKET_REASONS;

/** True for changes that nobody waits for: they come after all others. */
export function isUnhurried(reason: string): boolean {
  return reason === "DemandFell" || reason === "LoanGiven";
}

/** Why the controller did or did not do as the agent wants. */
export const ENFORCEMENT_REASONS = {
  Applied: "the kubelet reports the desired limits",
  Waiting: "the agent has not cleared with this pod yet",
  PodGone: "the pod no longer exists",
  IdentityMismatch: "allocation and pod differ in UID, namespace or node",
  MarketOff: "the market is switched off in the configuration",
  OptedOut: "pod or namespace opted out",
  NamespaceExcluded: "the namespace is excluded by the configuration",
  NotOptedIn: "the policy is OptIn and the namespace is not labelled",
  NotBurstable: "only Burstable pods take part",
  NoCPULimit: "no container has a CPU limit",
  AgentSilent: "the node's agent has not renewed its lease",
  BoundsStale: "the bounds are newer than the clearing: waiting for the agent",
  OutsideBounds: "the agent's value lies outside the published bounds",
  NotRunning: "the pod is not running or is terminating",
  ResizeUnsupported: "the pod can't be resized in place",
  QoSWouldChange: "the change would alter the pod's QoS class",
  LimitRange: "a LimitRange of the namespace bounds the limit",
  QuotaExceeded: "a ResourceQuota of the namespace bounds the limit",
  ResizeInProgress: "the kubelet is still working on the last resize",
  ResizeDeferred: "the kubelet has deferred the resize",
  ResizeInfeasible: "the kubelet can't ever do the resize",
  ResizeError: "the kubelet has failed to do the resize and tries again",
  BackOff: "the last attempt was refused: waiting before the next",
  RateLimited: "other changes go first",
  Refused: "the API server refused the resize",
  NodeCapacity: "the API server refused the resize: the node has not that much CPU",
  AdmissionDenied: "a policy engine denied the resize",
  DryRun: "dry-run: the change is only reported",
  Restored: "the user's own limits are back",
  RestoreBlocked: "the API server refuses the user's own limits",
  OriginalUnknown: "the user's own limits are not known: the pod is left alone",
} as const;

/** A word of {@linkcode ENFORCEMENT_REASONS}. */
export type EnforcementReason = keyof typeof ENFORCEMENT_REASONS;

const SENTENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...MARKET_REASONS, ...ENFORCEMENT_REASONS }),
);

/** What a reason word means, of either list; a newer version may have words that are in neither. */
export function sentenceOf(reason: string): string {
  return SENTENCES.get(reason) ?? "a reason that this version does not know";
}

/** The market's word, or undefined for none and for one that this version does not know. */
export function knownMarketReason(reason: string | undefined): MarketReason | undefined {
  return marketReasonSchema.safeParse(reason).data;
}

const words = <T extends string>(reasons: Record<T, string>): [T, ...T[]] =>
  Object.keys(reasons) as [T, ...T[]];

/** Schema of a market reason. */
export const marketReasonSchema: z.ZodType<MarketReason> = z.enum(words(MARKET_REASONS));

/** Schema of an enforcement reason. */
export const enforcementReasonSchema: z.ZodType<EnforcementReason> = z.enum(
  words(ENFORCEMENT_REASONS),
);
