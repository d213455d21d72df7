/**
 * The cluster's present state, as the controller's caches have it.
 *
 * @module
 */
import { withCPU } from "../../shared/resize/inputs/subject.ts";
import { unreadableMessages } from "../../shared/api/namespace.ts";
import { isFinished, type Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ReplicaSet, WorkloadRef } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { originalValues } from "../../shared/resize/original_limits.ts";
import { controls } from "../../shared/resize/workloads_of.ts";
import type {
  RightsizedWorkload,
  RightsizingSnapshot,
} from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { largestNode, namespaceRules } from "../../shared/rightsizing/namespace_bounds.ts";
import { workloadKey } from "../../shared/rightsizing/policy_match.ts";
import type { Corrections } from "../../shared/rightsizing/recommend.ts";
import type { Caches } from "../caches.ts";
import type { CorrectionMemory } from "./corrections.ts";

/** Caches of the objects that bound a workload's values. */
export type BoundCaches = Pick<
  Caches,
  | "horizontalPodAutoscalers"
  | "verticalPodAutoscalers"
  | "limitRanges"
  | "resourceQuotas"
  | "nodes"
>;

/** The bounds of the workload's values, for these pods of it and for new ones. */
export function workloadBounds(
  caches: BoundCaches,
  { workload, pods }: Pick<RightsizingSnapshot, "workload" | "pods">,
): Pick<
  RightsizingSnapshot,
  "autoscalers" | "verticalAutoscalers" | "ranges" | "quotas" | "largestNode" | "unreadable"
> {
  const { kind, metadata: { namespace, name }, template } = workload;
  const targetsWorkload = ({ target }: { readonly target: WorkloadRef }): boolean =>
    target.kind === kind && target.name === name;
  const verticalAutoscalers = caches.verticalPodAutoscalers.byIndex(namespace).filter(
    targetsWorkload,
  );
  const rules = namespaceRules({
    limitRanges: caches.limitRanges.byIndex(namespace),
    quotas: caches.resourceQuotas.byIndex(namespace),
  }, { template, pods });
  const largest = largestNode(caches.nodes.all());
  return {
    ...rules,
    ...(largest && { largestNode: largest }),
    autoscalers: caches.horizontalPodAutoscalers.byIndex(namespace).filter(targetsWorkload),
    verticalAutoscalers,
    unreadable: [
      ...rules.unreadable,
      ...unreadableMessages("VerticalPodAutoscaler", verticalAutoscalers),
    ],
  };
}

/** A workload with its pods, under the policy that has won it. */
export type ReconciledWorkload = Pick<
  RightsizingSnapshot,
  "workload" | "policy" | "nowMs" | "lastAppliedMs" | "pods"
>;

/** The part of a snapshot that comes from usage and records. */
export type KnownState = Pick<
  RightsizingSnapshot,
  "recommendations" | "samples" | "memoryPeaks" | "inForce" | "recordedTemplate" | "denial"
>;

/** Dependencies of snapshots. */
export interface ClusterSnapshotsParts {
  readonly caches: BoundCaches & Pick<Caches, "pods" | "allocations"> & {
    readonly replicaSets: Informer<ReplicaSet>;
  };
  readonly corrections: CorrectionMemory;
  readonly dryRun: () => boolean;
  /** The server's features for resizing. */
  readonly served: () => Pick<RightsizingSnapshot, "resizeServed" | "lowersMemoryLimits">;
  readonly missingPermissions: (
    workload: RightsizedWorkload,
  ) => RightsizingSnapshot["missingPermissions"];
}

/** The state of workloads and pods in the caches. */
export class ClusterSnapshots {
  readonly #parts: ClusterSnapshotsParts;

  constructor(parts: ClusterSnapshotsParts) {
    this.#parts = parts;
  }

  /** The pods of the workload, and others of its namespace, that have not ended and are not ending. */
  podsOf(workload: RightsizedWorkload): {
    readonly pods: readonly Pod[];
    readonly otherPods: readonly Pod[];
  } {
    const { caches } = this.#parts;
    const { pods = [], otherPods = [] } = Object.groupBy(
      caches.pods.byIndex(workload.metadata.namespace).filter((pod) =>
        !isFinished(pod) && !pod.metadata.terminating
      ),
      (pod) =>
        controls(workload, pod, { replicaSet: caches.replicaSets.get }) ? "pods" : "otherPods",
    );
    return { pods, otherPods };
  }

  /** By container: OOM kills and throttling within the policy's window. */
  correctionsOf(
    { workload, policy: { windowMs }, pods, nowMs, lastAppliedMs }: ReconciledWorkload,
  ): ReadonlyMap<string, Corrections> {
    return this.#parts.corrections.observe(workloadKey(workload), {
      pods,
      allocations: pods.flatMap((pod) => this.#allocationOf(pod) ?? []),
      nowMs,
      windowMs,
      ...(lastAppliedMs !== undefined && { lastAppliedMs }),
    });
  }

  /** The input of the guards. */
  snapshotOf(target: ReconciledWorkload, known: KnownState): RightsizingSnapshot {
    const { caches, dryRun, served, missingPermissions } = this.#parts;
    const { workload, pods } = target;
    const nodes = pods.flatMap(({ nodeName }) => caches.nodes.get(nodeName) ?? []);
    const originals = pods.map((pod) =>
      originalValues(this.#allocationOf(pod)?.status?.originalLimits)
    );
    return {
      ...known,
      ...target,
      ...workloadBounds(caches, target),
      ...served(),
      dryRun: dryRun(),
      // Where the market has set a limit, the user's original limit counts.
      pods: pods.map((pod, index) =>
        withCPU(pod, { side: "limits", values: originals[index] ?? new Map() })
      ),
      nodes: new Map(nodes.map((node) => [node.metadata.name, node])),
      missingPermissions: missingPermissions(workload),
      marketManages: originals.some(({ size }) => size > 0),
    };
  }

  /** Deletes the corrections of all workloads but these, by key. */
  keepOnly(keep: (workload: string) => boolean): void {
    this.#parts.corrections.keepOnly(keep);
  }

  #allocationOf({ metadata: { namespace, uid } }: Pod): PodAllocation | undefined {
    return this.#parts.caches.allocations.get(`${namespace}/${uid}`);
  }
}
