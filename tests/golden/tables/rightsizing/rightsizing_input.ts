/**
 * What the decision table of rightsizing draws: a workload, its policy, what is recommended for it, and
 * what bounds it.
 *
 * @module
 */
import type { RawRefusal } from "../market/market_input.ts";
import type { RawContainer, RawList, RawResources } from "../raw_pod.ts";

/** Requests and limits by container. */
export type RawResourcesByName = Readonly<Record<string, RawResources>>;

/** One input of the table. What is absent is as usual, or is not there. */
export interface RightsizingInput {
  /** Of the template of Deployment `web`. */
  readonly containers: readonly RawContainer[];
  readonly initContainers?: readonly RawContainer[];
  /** `spec.resources` of the template. */
  readonly podResources?: RawResources;
  /** Pods that run; one where absent. */
  readonly pods?: number;
  /** Theirs where they differ from the template's. */
  readonly podContainers?: readonly RawContainer[];
  /** `spec.os.name` of the pods. */
  readonly os?: string;
  /** `spec` of the Deployment, and its `status` where its rollout is not over. */
  readonly paused?: true;
  readonly status?: Readonly<Record<string, unknown>>;
  /** Fields of the OptimizationPolicy's `spec`. */
  readonly mode?: "Recommend" | "Disabled";
  readonly updateStrategy?: Readonly<Record<string, unknown>>;
  readonly recommended: RawResourcesByName;
  /** 100 of each container where absent. */
  readonly samples?: Readonly<Record<string, number>>;
  /** Largest memory seen lately, by container: 30Mi where left out, `unknown` where it is not known. */
  readonly memoryPeaks?: RawList;
  readonly limitRange?: readonly Readonly<Record<string, unknown>>[];
  readonly quota?: { readonly hard: RawList; readonly used: RawList };
  /** `averageUtilization` of this resource of a HorizontalPodAutoscaler. */
  readonly hpaOn?: "cpu" | "memory" | "unreadable";
  readonly vpaMode?: string;
  /** `controlledResources` of its policy for all containers; all where absent. */
  readonly vpaResources?: readonly string[];
  /** `status` of the pods' node, which is the only one. */
  readonly node?: {
    readonly allocatable?: RawList;
    readonly pressure?: string;
    readonly kubeletVersion?: string;
  };
  readonly dryRun?: true;
  readonly missingPermissionFor?: "InPlace" | "Recreate";
  /** A policy engine has denied this recommendation; absent: none. */
  readonly denied?: RawResourcesByName;
  /** Until the policy engine may be asked again; 10 where absent. */
  readonly denialEndsInMinutes?: number;
  readonly appliedMinutesAgo?: number;
  /** What earlier applications have set, adopted on the template as it is now. */
  readonly inForce?: RawResourcesByName;
  /** The author has changed the template since. */
  readonly isEditedSince?: true;
  /** Hours since another field manager changed a resource of container `app` in the template. */
  readonly changedHoursAgo?: Readonly<Partial<Record<"cpu" | "memory", number>>>;
  readonly server?: Readonly<Partial<Record<"resizeServed" | "lowersMemoryLimits", false>>>;
  /** The market sets `limits.cpu` of the pods; this is its limit where it differs. */
  readonly marketLimits?: RawList;
  /** The API server's answer to a change; it takes it where absent. */
  readonly refusal?: RawRefusal;
}
