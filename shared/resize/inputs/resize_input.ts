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

/** A pod and its bounds by the API. */
export interface PodInput {
  readonly pod: Pod;
  /** The pod's node; pods of an unknown node count as resizable. */
  readonly node?: Pick<Node, "kubeletVersion" | "os"> | undefined;
  /** The combined LimitRanges of the namespace; absent without any. */
  readonly limitRange?: ResourceRanges | undefined;
  /** The least room for a raise in the quotas that count the pod, and the name of that quota. */
  readonly quotaRoom?: { readonly millicores: number; readonly quota?: string } | undefined;
}

/** The input of checks that need the controller's knowledge of the pod. */
export interface ClaimInput extends PodInput {
  readonly allocation: PodAllocation;
  /** True where the market has set limits and the original ones are not known. */
  readonly originalUnknown?: boolean;
  /** Names of the caches that are out of sync. */
  readonly outOfSync?: readonly string[] | undefined;
  /** Largest factor between the present limit and the next; absent: any. */
  readonly maxStep?: number | undefined;
  /** Time until the pod may be resized again, ms. @default {0} */
  readonly restMs?: number | undefined;
  /** Time until limits of a pod that was resized too often may be lowered, ms. @default {0} */
  readonly oscillatingMs?: number | undefined;
  /** Time left of the wait after a refusal, ms. @default {0} */
  readonly backOffMs?: number | undefined;
}

/** The verdict of a check of a pod's resize. */
export type PodVerdict = Verdict<EnforcementReason>;

/** The wanted CPU limits that differ from the pod's spec, with the request where it moves. */
export function changesOf(pod: Pod, wanted: WantedResources): readonly LimitChange[] {
  const moves = movesRequest(pod);
  return pod.containers.flatMap(({ name, sidecar, limits: present }): LimitChange[] => {
    const cpu = wanted.get(name)?.limits.cpu;
    if (cpu === undefined || cpu === present.cpu) return [];
    return [{ name, sidecar, requests: moves ? { cpu } : {}, limits: { cpu } }];
  });
}
