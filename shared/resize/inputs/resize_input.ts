/**
 * The input of the checks of a pod's resize.
 *
 * @module
 */
import type { Node } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import type { PodAllocation } from "../../api/pod_allocation.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { LimitChange } from "../patch.ts";
import type { Verdict } from "../run_checks.ts";
import { movesRequest } from "./qos.ts";
import type { WantedResources } from "./resources.ts";

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

/** The combined LimitRanges of a namespace. */
export interface ResourceRanges {
  readonly cpu?: AmountRanges;
  readonly memory?: AmountRanges;
  /**
   * Defaults that the server writes at each resize into every container that lacks them, as
   * `limits.<resource>` and `requests.<resource>`; absent: none.
   */
  readonly defaults?: readonly string[];
}

/** Why a pod takes no part in the market, or is left alone by all. */
export interface OutOfScope {
  readonly reason: EnforcementReason;
  readonly message: string;
}

/** A pod and its bounds by the API, whatever wants to change it. */
export interface PodInput {
  readonly pod: Pod;
  /** The pod's; where it is not known, its pods are given the benefit of the doubt. */
  readonly node?: Pick<Node, "kubeletVersion" | "os"> | undefined;
  /** The combined LimitRanges of the namespace; absent without any. */
  readonly limitRange?: ResourceRanges | undefined;
  /** Room in the namespace's quotas for this pod's raise, and the quota that leaves no more. */
  readonly quotaRoom?: { readonly millicores: number; readonly quota?: string } | undefined;
}

/** The controller's facts on a claim beside those, read before the first check runs. */
export interface ClaimInput extends PodInput {
  readonly allocation: PodAllocation;
  /** True where the limits are this product's and the original ones are not on record. */
  readonly originalUnknown?: boolean;
  /** Copies of the API's objects that don't follow the server now; absent: all do. */
  readonly outOfSync?: readonly string[] | undefined;
  /** Largest factor between the present limit and the next; absent: any. */
  readonly maxStep?: number | undefined;
  /** Left of the least time between two resizes of a pod, ms. @default {0} */
  readonly restMs?: number | undefined;
  /** How long the limits of a pod that was resized too often are not lowered, ms. @default {0} */
  readonly oscillatingMs?: number | undefined;
  /** Left of the wait after a refusal, ms. @default {0} */
  readonly backOffMs?: number | undefined;
}

/** The verdict of a check of a pod's resize. */
export type PodVerdict = Verdict<EnforcementReason>;

/**
 * The containers with other CPU limits than the pod's spec has; in a Guaranteed pod the request goes with
 * the limit, and is equal to it.
 */
export function changesOf(pod: Pod, wanted: WantedResources): readonly LimitChange[] {
  const moves = movesRequest(pod);
  return pod.containers.flatMap(({ name, sidecar, limits: present }): LimitChange[] => {
    const cpu = wanted.get(name)?.limits.cpu;
    if (cpu === undefined || cpu === present.cpu) return [];
    return [{ name, sidecar, requests: moves ? { cpu } : {}, limits: { cpu } }];
  });
}
