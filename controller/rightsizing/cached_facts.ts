/**
 * The cluster's present state, from the controller's copies of it.
 *
 * @module
 */
import { isFinished } from "../../shared/resize/scope.ts";
import { controls } from "../../shared/resize/workloads_of.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import type { Node } from "../../shared/api/node.ts";
import type { ReplicaSet } from "../../shared/api/workload.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { largestNode } from "../../shared/rightsizing/namespace_bounds.ts";
import { workloadKey } from "../../shared/rightsizing/policy_match.ts";
import { cachedAutoscalers, type NamespaceRules } from "./cached_rules.ts";
import type { ClusterFacts } from "./cluster_facts.ts";
import type { CorrectionMemory } from "./corrections/corrections.ts";
import { originalValues } from "../../shared/resize/original_limits.ts";

/** The copies that are read. */
export interface FactCaches {
  readonly pods: Pick<Informer<Pod>, "byIndex" | "whenSynced">;
  readonly replicaSets: Pick<Informer<ReplicaSet>, "get" | "whenSynced">;
  readonly nodes: Pick<Informer<Node>, "get" | "all" | "whenSynced">;
  readonly allocations: Pick<Informer<PodAllocation>, "get" | "whenSynced">;
  readonly horizontalPodAutoscalers: Pick<
    Informer<HorizontalPodAutoscaler>,
    "byIndex" | "whenSynced"
  >;
  readonly verticalPodAutoscalers: Pick<Informer<VerticalPodAutoscaler>, "byIndex" | "whenSynced">;
}

/** What the facts are made of, beside the copies. */
export interface CachedFactsParts {
  readonly caches: FactCaches;
  /** What is seen is remembered there. */
  readonly corrections: CorrectionMemory;
  readonly rulesOf: (workload: RightsizedWorkload, pods: readonly Pod[]) => NamespaceRules;
  readonly dryRun: () => boolean;
  /** What the server serves. */
  readonly served: () => Pick<RightsizingFacts, "resizeServed" | "lowersMemoryLimits">;
  readonly missingPermissions: (
    workload: RightsizedWorkload,
  ) => RightsizingFacts["missingPermissions"];
}

/** Facts that are as young as the copies. */
// deno-lint-ignore house/function-length
export function createCachedFacts(parts: CachedFactsParts): ClusterFacts {
  const { caches, corrections: { oom, throttle }, rulesOf, dryRun, served } = parts;

  function podsIn(namespace: string): readonly Pod[] {
    return caches.pods.byIndex(namespace).filter((pod) =>
      !isFinished(pod) && !pod.metadata.terminating
    );
  }

  function owns(workload: RightsizedWorkload): (pod: Pod) => boolean {
    return (pod) => controls(workload, pod, { replicaSet: (key) => caches.replicaSets.get(key) });
  }

  function podsOf(workload: RightsizedWorkload): readonly Pod[] {
    return podsIn(workload.metadata.namespace).filter(owns(workload));
  }

  function allocationOf({ metadata: { namespace, uid } }: Pod): PodAllocation | undefined {
    return caches.allocations.get(`${namespace}/${uid}`);
  }

  /** What the market has set is nobody's wish: the user's own limit is what counts. */
  function atOriginalLimits(pod: Pod): Pod {
    const own = originalValues(allocationOf(pod)?.status?.originalLimits);
    if (own.size === 0) return pod;
    const containers = pod.containers.map((container) => {
      const limitCPU = own.get(container.name);
      return limitCPU === undefined
        ? container
        : { ...container, limits: { ...container.limits, cpu: limitCPU } };
    });
    return { ...pod, containers };
  }

  return {
    owns,
    podsIn,
    async whenSynced(signal) {
      const { pods, replicaSets, nodes, allocations } = caches;
      const autoscalers = [caches.horizontalPodAutoscalers, caches.verticalPodAutoscalers];
      for (const copy of [pods, replicaSets, nodes, allocations, ...autoscalers]) {
        if (!await copy.whenSynced(signal)) return false;
      }
      return true;
    },
    keepOnly(keep) {
      oom.keepOnly(keep);
      throttle.keepOnly(keep);
    },
    correctionsOf({ workload, policy, nowMs, lastAppliedMs }) {
      const { windowMs } = policy;
      const sinceMs = nowMs - windowMs;
      const [key, pods] = [workloadKey(workload), podsOf(workload)];
      const kills = oom.killsOf(key, pods, {
        sinceMs,
        ...(lastAppliedMs === undefined ? {} : { lastAppliedMs }),
      });
      throttle.look(key, pods.flatMap((pod) => allocationOf(pod) ?? []), { nowMs, windowMs });
      const held = throttle.throttlingOf(key, sinceMs);
      return new Map([...new Set([...kills.keys(), ...held.keys()])].map((container) => {
        const [oomKills, throttling] = [kills.get(container), held.get(container)];
        return [container, {
          ...(oomKills === undefined ? {} : { oomKills }),
          ...(throttling === undefined ? {} : { throttling }),
        }];
      }));
    },
    factsOf({ workload, policy, nowMs }, known) {
      const pods = podsOf(workload);
      const autoscalers = cachedAutoscalers(caches, workload);
      const nodes = new Map(pods.flatMap(({ nodeName }) => {
        const node = caches.nodes.get(nodeName);
        return node === undefined ? [] : [[nodeName, node] as const];
      }));
      const rules = rulesOf(workload, pods);
      const largest = largestNode(caches.nodes.all());
      return {
        ...known,
        ...rules,
        ...autoscalers,
        unreadable: [...rules.unreadable, ...autoscalers.unreadable],
        nowMs,
        policy,
        dryRun: dryRun(),
        workload,
        pods: pods.map(atOriginalLimits),
        nodes,
        ...(largest === undefined ? {} : { largestNode: largest }),
        missingPermissions: parts.missingPermissions(workload),
        ...served(),
        marketManages: pods.some((pod) =>
          originalValues(allocationOf(pod)?.status?.originalLimits).size > 0
        ),
      };
    },
  };
}
