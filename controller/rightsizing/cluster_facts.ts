/**
 * The cluster's present state, as the controller's caches have it.
 *
 * @module
 */
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import {
  type LimitRange,
  type ResourceQuota,
  unreadableMessages,
} from "../../shared/api/namespace.ts";
import type { Node } from "../../shared/api/node.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ReplicaSet } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { withCPU } from "../../shared/resize/inputs/subject.ts";
import { originalValues } from "../../shared/resize/original_limits.ts";
import { isFinished } from "../../shared/resize/scope.ts";
import { controls } from "../../shared/resize/workloads_of.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { largestNode, namespaceRules } from "../../shared/rightsizing/namespace_bounds.ts";
import { workloadKey } from "../../shared/rightsizing/policy_match.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { Corrections } from "../../shared/rightsizing/recommend.ts";
import type { CorrectionMemory } from "./corrections.ts";
import type { LearnedFacts } from "./evaluate_workload.ts";

/** A workload under the policy that has won it. */
export interface WorkloadCase {
  readonly workload: RightsizedWorkload;
  readonly policy: PolicySpec;
  /** Ms since 1970. */
  readonly nowMs: number;
  /** When values were last applied to it, ms since 1970; absent: never. */
  readonly lastAppliedMs?: number;
}

/** What is remembered of the workload. */
export type RememberedFacts = Pick<
  RightsizingFacts,
  "inForce" | "remembered" | "lastAppliedMs" | "denial"
>;

/** State of workloads and pods. */
export interface ClusterFacts {
  /** Whether the workload controls a pod. */
  owns(workload: RightsizedWorkload): (pod: Pod) => boolean;
  /** All pods of the namespace that have not ended. */
  podsIn(namespace: string): readonly Pod[];
  /** By container: OOM kills and throttling within the policy's window. */
  correctionsOf(one: WorkloadCase): ReadonlyMap<string, Corrections>;
  /** The input of the guards. */
  factsOf(one: WorkloadCase, known: LearnedFacts & RememberedFacts): RightsizingFacts;
  /** Resolves with true once the caches are complete, with false when `signal` is aborted first. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** Deletes what was seen of all workloads but these, by key. */
  keepOnly(keep: (workload: string) => boolean): void;
}

/** What is read of a cache with an index. */
export type SyncedIndex<T extends ApiObject> = Pick<Informer<T>, "byIndex" | "whenSynced">;

/** The caches that are read. */
export interface FactCaches {
  readonly pods: SyncedIndex<Pod>;
  readonly replicaSets: Pick<Informer<ReplicaSet>, "get" | "whenSynced">;
  readonly nodes: Pick<Informer<Node>, "get" | "all" | "whenSynced">;
  readonly allocations: Pick<Informer<PodAllocation>, "get" | "whenSynced">;
  readonly horizontalPodAutoscalers: SyncedIndex<HorizontalPodAutoscaler>;
  readonly verticalPodAutoscalers: SyncedIndex<VerticalPodAutoscaler>;
}

/** Limits of a namespace, and a sentence for each object that can't be read. */
export type NamespaceRules = Pick<RightsizingFacts, "ranges" | "quotas" | "unreadable">;

/** Sources of facts beside the caches. */
export interface ClusterFactsParts {
  readonly caches: FactCaches;
  readonly corrections: CorrectionMemory;
  readonly rulesOf: (workload: RightsizedWorkload, pods: readonly Pod[]) => NamespaceRules;
  readonly dryRun: () => boolean;
  /** What the server serves. */
  readonly served: () => Pick<RightsizingFacts, "resizeServed" | "lowersMemoryLimits">;
  readonly missingPermissions: (
    workload: RightsizedWorkload,
  ) => RightsizingFacts["missingPermissions"];
}

/** Facts that are as new as the caches. */
export function createClusterFacts(parts: ClusterFactsParts): ClusterFacts {
  const { caches, corrections } = parts;
  const owns = (workload: RightsizedWorkload) => (pod: Pod): boolean =>
    controls(workload, pod, { replicaSet: (key) => caches.replicaSets.get(key) });
  const podsIn = (namespace: string): readonly Pod[] =>
    caches.pods.byIndex(namespace).filter((pod) => !isFinished(pod) && !pod.metadata.terminating);
  const podsOf = (workload: RightsizedWorkload): readonly Pod[] =>
    podsIn(workload.metadata.namespace).filter(owns(workload));
  return {
    owns,
    podsIn,
    async whenSynced(signal) {
      const { pods, replicaSets, nodes, allocations } = caches;
      const autoscalers = [caches.horizontalPodAutoscalers, caches.verticalPodAutoscalers];
      for (const cache of [pods, replicaSets, nodes, allocations, ...autoscalers]) {
        if (!await cache.whenSynced(signal)) return false;
      }
      return true;
    },
    keepOnly: corrections.keepOnly,
    correctionsOf({ workload, policy: { windowMs }, nowMs, lastAppliedMs }) {
      const pods = podsOf(workload);
      return corrections.observe(workloadKey(workload), {
        pods,
        allocations: pods.flatMap((pod) => allocationOf(caches, pod) ?? []),
        nowMs,
        windowMs,
        ...(lastAppliedMs === undefined ? {} : { lastAppliedMs }),
      });
    },
    factsOf: (one, known) => ({ ...known, ...presentFacts(one, podsOf(one.workload), parts) }),
  };
}

function presentFacts(
  { workload, policy, nowMs }: WorkloadCase,
  pods: readonly Pod[],
  { caches, rulesOf, dryRun, served, missingPermissions }: ClusterFactsParts,
): Omit<RightsizingFacts, keyof LearnedFacts | keyof RememberedFacts> {
  const autoscalers = cachedAutoscalers(caches, workload);
  const rules = rulesOf(workload, pods);
  const largest = largestNode(caches.nodes.all());
  const nodes = pods.flatMap(({ nodeName }) => caches.nodes.get(nodeName) ?? []);
  const originals = pods.map((pod) =>
    originalValues(allocationOf(caches, pod)?.status?.originalLimits)
  );
  return {
    ...rules,
    ...autoscalers,
    unreadable: [...rules.unreadable, ...autoscalers.unreadable],
    nowMs,
    policy,
    dryRun: dryRun(),
    workload,
    // Where the market has set a limit, the user's original limit counts.
    pods: pods.map((pod, index) =>
      withCPU(pod, { side: "limits", values: originals[index] ?? new Map() })
    ),
    nodes: new Map(nodes.map((node) => [node.metadata.name, node])),
    ...(largest === undefined ? {} : { largestNode: largest }),
    missingPermissions: missingPermissions(workload),
    ...served(),
    marketManages: originals.some(({ size }) => size > 0),
  };
}

function allocationOf(
  { allocations }: Pick<FactCaches, "allocations">,
  { metadata: { namespace, uid } }: Pod,
): PodAllocation | undefined {
  return allocations.get(`${namespace}/${uid}`);
}

/** The autoscalers of the workload, and a sentence for each that can't be read. */
export function cachedAutoscalers(
  { horizontalPodAutoscalers, verticalPodAutoscalers }: {
    readonly horizontalPodAutoscalers: Pick<Informer<HorizontalPodAutoscaler>, "byIndex">;
    readonly verticalPodAutoscalers: Pick<Informer<VerticalPodAutoscaler>, "byIndex">;
  },
  { kind, metadata: { namespace, name } }: RightsizedWorkload,
): Pick<RightsizingFacts, "autoscalers" | "verticalAutoscalers" | "unreadable"> {
  const isFor = ({ target }: { readonly target: { kind: string; name: string } }): boolean =>
    target.kind === kind && target.name === name;
  const verticalAutoscalers = verticalPodAutoscalers.byIndex(namespace).filter(isFor);
  return {
    autoscalers: horizontalPodAutoscalers.byIndex(namespace).filter(isFor),
    verticalAutoscalers,
    unreadable: unreadableMessages("VerticalPodAutoscaler", verticalAutoscalers),
  };
}

/** The rules of the workload's namespace for these pods of it, and for new ones. */
export function cachedRules(
  { limitRanges, resourceQuotas }: {
    readonly limitRanges: Pick<Informer<LimitRange>, "byIndex">;
    readonly resourceQuotas: Pick<Informer<ResourceQuota>, "byIndex">;
  },
  { metadata: { namespace }, template }: RightsizedWorkload,
  { pods }: { readonly pods: readonly Pod[] },
): NamespaceRules {
  return namespaceRules({
    limitRanges: limitRanges.byIndex(namespace),
    quotas: resourceQuotas.byIndex(namespace),
  }, { template, pods });
}
