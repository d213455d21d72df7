/**
 * What the checks of a pod's resize look at.
 *
 * @module
 */
import type { Node } from "../../api/node.ts";
import { NO_RESOURCES, type Pod, type Resources } from "../../api/pod.ts";
import type { PodAllocation } from "../../api/pod_allocation.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { Verdict } from "../run_checks.ts";
import type { WantedResources } from "./resources.ts";
import { containersWanted, marketSubject } from "./subject.ts";

/** A range of requests and limits: of CPU in millicores, of memory in bytes. */
export interface AmountRange {
  /** 0 when there is none. */
  readonly min: number;
  /** Infinity when there is none. */
  readonly max: number;
  /** The largest limit / request; Infinity when there is none. */
  readonly ratio: number;
}

/** The ranges of one resource, for each container and for the sums of a pod. */
export interface AmountRanges {
  readonly container: AmountRange;
  readonly pod: AmountRange;
}

/** What the LimitRanges of a namespace come to. */
export interface ResourceRanges {
  readonly cpu?: AmountRanges;
  readonly memory?: AmountRanges;
  /**
   * What the server writes at each resize into every container that lacks it, as `limits.<resource>`
   * and `requests.<resource>`; absent: nothing.
   */
  readonly defaults?: readonly string[];
}

/** What the API reports of a pod and of what bounds it, whatever wants to change it. */
export interface PodFacts {
  readonly pod: Pod;
  /** Of the pod's node; absent where it is not known. */
  readonly node?: Pick<Node, "kubeletVersion" | "os"> | undefined;
  /** What the LimitRanges of the namespace come to; absent when nothing. */
  readonly limitRange?: ResourceRanges | undefined;
  /** Millicores that the namespace's quotas leave for this pod's raise. */
  readonly quotaHeadroom?: number | undefined;
  /** Name of the quota that leaves no more. */
  readonly quotaName?: string | undefined;
}

/** Everything that the checks look at, read before the first one runs. */
export interface ClaimFacts extends PodFacts {
  readonly allocation: PodAllocation;
  /** Why the pod takes no part; absent when it does. */
  readonly outOfScope?:
    | { readonly reason: EnforcementReason; readonly message: string }
    | undefined;
  readonly agentSilent: boolean;
  /** Copies of the API's objects that don't follow the server now; absent: all do. */
  readonly outOfSync?: readonly string[] | undefined;
  /** Largest factor between the present limit and the next; absent: any. */
  readonly maxStep?: number | undefined;
  /** Left of the least time between two resizes of a pod, ms. @default {0} */
  readonly restMs?: number | undefined;
  /** How long the limits of a pod that was resized too often are not lowered, ms. @default {0} */
  readonly oscillatingMs?: number | undefined;
  /** Milliseconds until the next attempt is allowed after a refusal; 0 when there was none. */
  readonly backOffMs: number;
}

/** What a chain decides by. */
export interface EnforcementInput extends Omit<ClaimFacts, "pod"> {
  /** Absent when there is no such pod. */
  readonly pod: Pod | undefined;
  /**
   * The CPU limits that the source wants, millicores by container. The limits of a container have one
   * owner at a time, so claims of several sources need no merging: `patchParts()` says under which name
   * each is sent.
   */
  readonly claims: Iterable<readonly [container: string, millicores: number]>;
}

/** What a check of a pod's resize answers. */
export type PodVerdict = Verdict<EnforcementReason>;

/** Makes a clamp that leaves the pod as it is a hold, which no later check talks over. */
export function heldWhereNothingIsLeft<Reason extends string>(
  verdict: Verdict<Reason>,
  pod: Pod,
): Verdict<Reason> {
  if (verdict?.verdict !== "clamp" || !changesNothing(pod, verdict.wanted)) return verdict;
  const { reason, message } = verdict;
  return { verdict: "hold", reason, message };
}

/** True where the pod's spec has the wanted CPU values already. */
export function changesNothing(pod: Pod, wanted: WantedResources): boolean {
  return containersWanted(marketSubject(pod), wanted)
    .every((next, index) => hasSameCPU(next, pod.containers[index] ?? NO_RESOURCES));
}

/** True where CPU request and limit are the same. */
export function hasSameCPU(one: Resources, other: Resources): boolean {
  return one.limits.cpu === other.limits.cpu && one.requests.cpu === other.requests.cpu;
}
