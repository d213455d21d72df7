/**
 * Reads everything that a reconcile of one pod needs from the caches.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Informer } from "../../shared/control/informer.ts";

/** The controller's copies of the API's state. */
export interface Caches {
  readonly pods: Informer<Pod>;
  readonly namespaces: Informer<Namespace>;
  readonly nodes: Informer<Node>;
  /** Indexed by {@linkcode podKeyOf}. */
  readonly allocations: Informer<PodAllocation>;
}

/** One pod and what belongs to it. */
export interface Gathered {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  readonly node: Node | undefined;
  readonly allocation: PodAllocation | undefined;
}

/** The key of the pod that an allocation speaks of. */
export function podKeyOf({ metadata, spec }: PodAllocation): string {
  return `${metadata.namespace}/${spec.podName}`;
}

/** The pod under this key with its namespace, node and allocation; undefined when it is gone. */
export function gather(caches: Caches, podKey: string): Gathered | undefined {
  const pod = caches.pods.get(podKey);
  if (pod === undefined) return undefined;
  const { namespace, uid } = pod.metadata;
  return {
    pod,
    namespace: caches.namespaces.get(namespace),
    node: caches.nodes.get(pod.nodeName),
    allocation: caches.allocations.get(`${namespace}/${uid}`),
  };
}
