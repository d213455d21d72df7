/**
 * What the market's decision table draws: a pod, its allocation, and what bounds it.
 *
 * @module
 */
import type { RawPod, RawResources } from "../raw_pod.ts";

/** A refusal of the API server. */
export interface RawRefusal {
  readonly code: number;
  readonly message: string;
  readonly causes?: readonly string[];
}

/** One input of the table. What is absent is as usual, or is not there. */
export interface MarketInput {
  /** A person with `kubectl coalloc resize`; absent: the controller. */
  readonly by?: "person";
  readonly pod: RawPod;
  readonly node?: { readonly kubeletVersion?: string; readonly os?: string };
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** `spec.limits` of a LimitRange. */
  readonly limitRange?: readonly Readonly<Record<string, unknown>>[];
  /** Of a ResourceQuota. */
  readonly quota?: { readonly hard: RawQuantities; readonly used: RawQuantities };
  /** `spec.updatePolicy.updateMode` of a VerticalPodAutoscaler for the pod's workload. */
  readonly vpaMode?: string;
  /** `averageUtilization` of CPU of a HorizontalPodAutoscaler for it. */
  readonly hpaUtilization?: number;
  /** Wanted `limits.cpu` by container: the agent's, or the person's. Absent: not yet. */
  readonly wanted?: Readonly<Record<string, string>>;
  /** Fields of the PodAllocation's `spec` that differ from the pod. */
  readonly allocation?: Readonly<Record<string, string>>;
  /** Bounds by container, millicores; wide ones where absent. */
  readonly bounds?: Readonly<
    Record<string, { readonly floor: number; readonly ceiling: number; readonly held?: string }>
  >;
  /** The allocation has containers, but no `spec.market`. */
  readonly marketMissing?: true;
  /** `spec.market.observedBounds`; `status.bounds.revision` is 3. */
  readonly observedBounds?: number;
  /** `status.originalLimits`; 200m for each wanted one where absent. */
  readonly originalLimits?: Readonly<Record<string, string>>;
  readonly settings?:
    & Readonly<
      Partial<Record<"market" | "dryRun" | "resizeServed", boolean>>
    >
    & {
      readonly managementPolicy?: "OptIn";
      readonly excludedNamespaces?: readonly string[];
      readonly maxStep?: number;
    };
  readonly agentSilent?: true;
  readonly originalUnknown?: true;
  /** Left of a back-off, and until the pod's turn. */
  readonly backOffMs?: number;
  readonly turnInMs?: number;
  /** Copies of the API's objects that are out of sync. */
  readonly outOfSync?: readonly string[];
  /** Left of the least time between two resizes, and of the hold of a pod that oscillates. */
  readonly restMs?: number;
  readonly oscillatingMs?: number;
  /** The API server's answer to a resize; it takes it where absent. */
  readonly refusal?: RawRefusal;
}

type RawQuantities = NonNullable<RawResources["limits"]>;
