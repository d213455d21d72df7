/**
 * A decision is a chain of named checks over a snapshot of the API.
 *
 * @module
 */
import type { Node } from "../api/node.ts";
import type { Pod } from "../api/pod.ts";
import type { PodAllocation } from "../api/pod_allocation.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import type { CPURanges } from "./checks/limit_range.ts";
import type { Intent } from "./claim.ts";

/** What the API says of a pod and of what bounds it, whoever wants to change it. */
export interface PodFacts {
  /** Absent when there is no such pod. */
  readonly pod: Pod | undefined;
  /** Of the pod's node; absent where it is not known. */
  readonly node?: Pick<Node, "kubeletVersion" | "os">;
  /** What the LimitRanges of the namespace say of CPU; absent when nothing. */
  readonly limitRange?: CPURanges;
  /** Millicores that the namespace's quotas leave for this pod's raise. */
  readonly quotaHeadroom?: number;
  /** Name of the quota that leaves no more. */
  readonly quotaName?: string;
}

/** Everything that the checks look at, gathered before the first one runs. */
export interface EnforcementInput extends PodFacts {
  readonly allocation: PodAllocation;
  /** Why the pod takes no part; absent when it does. */
  readonly outOfScope?: { readonly reason: EnforcementReason; readonly message: string };
  readonly agentSilent: boolean;
  /** By container name. */
  readonly intents: ReadonlyMap<string, Intent>;
  /** Copies of the API's objects that don't follow the server now; absent: all do. */
  readonly outOfSync?: readonly string[];
  /** Largest factor between the present limit and the next; absent: any. */
  readonly maxStep?: number;
  /** Left of the least time between two resizes of a pod, ms. @default {0} */
  readonly restMs?: number;
  /** How long the limits of a pod that was resized too often are not lowered, ms. @default {0} */
  readonly oscillatingMs?: number;
  /** Milliseconds until the next attempt is allowed after a refusal; 0 when there was none. */
  readonly backOffMs: number;
  /**
   * Takes the pod's turn: 0 when these limits may be sent now, otherwise milliseconds until it is worth
   * asking again. Asked once, by the last check.
   */
  readonly takeTurn: (limits: WantedLimits) => number;
}

/** Wanted limits on their way through the chain, millicores by container name. */
export type WantedLimits = ReadonlyMap<string, number>;

/** What a check may say; nothing means: go on. */
export type Verdict =
  | undefined
  | {
    readonly verdict: "hold";
    readonly reason: EnforcementReason;
    readonly message: string;
    /** When to look again; absent: when something changes. */
    readonly retryAfterMs?: number;
  }
  | {
    readonly verdict: "clamp";
    readonly reason: EnforcementReason;
    readonly message: string;
    readonly limits: WantedLimits;
  };

/** One named check over the facts that its chain gathers. */
export interface Check<Facts = EnforcementInput> {
  readonly name: string;
  readonly check: (input: Facts, limits: WantedLimits) => Verdict;
}
