/**
 * The chains of checks speak of a pod and its allocation. A person's change has none: it is about the
 * pod that was just read.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";

/** An allocation that matches the pod and says nothing else. */
export function standInAllocation({ metadata, nodeName }: Pod): PodAllocation {
  const { name: podName, namespace, uid: podUID } = metadata;
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: podUID, namespace, uid: "", resourceVersion: "" },
    spec: { podName, podUID, nodeName, namespace },
  };
}
