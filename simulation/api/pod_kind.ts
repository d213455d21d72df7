/**
 * Pods in the store: their status is what the kubelet reports.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { StoredKind } from "./stored_kind.ts";

/** Members of a container that only the kubelet sets. */
const CONTAINER_STATUS = [
  "containerID",
  "appliedLimitCPU",
  "appliedRequestCPU",
  "appliedLimitMemory",
  "startedAtMs",
  "restartedAtMs",
  "oomKilledAtMs",
  "crashLooping",
] as const;
const POD_STATUS = ["startedAtMs", "readySinceMs"] as const;

/** `spec` with those members of `from`, or without where `from` has none. */
function withMembers<T extends object>(
  spec: T,
  { from, names }: { readonly from: Partial<T> | undefined; readonly names: readonly (keyof T)[] },
): T {
  const result = { ...spec };
  for (const name of names) {
    delete result[name];
    const value = from?.[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** `spec` with the status of `from`; a container that `from` does not know has none. */
function withStatus(spec: Pod, from: Pod | undefined): Pod {
  const containers = (ofSpec: readonly PodContainer[], ofStatus: readonly PodContainer[] = []) =>
    ofSpec.map((container) => {
      const status = ofStatus.find(({ name }) => name === container.name);
      const ready = status?.ready ?? false;
      return { ...withMembers(container, { from: status, names: CONTAINER_STATUS }), ready };
    });
  return {
    ...withMembers(spec, { from, names: POD_STATUS }),
    phase: from?.phase ?? "Pending",
    ready: from?.ready ?? false,
    resizeConditions: from?.resizeConditions ?? [],
    containers: containers(spec.containers, from?.containers),
    initContainers: containers(spec.initContainers, from?.initContainers),
  };
}

/** The rules of pods. */
export const podKind: StoredKind<Pod> = {
  kind: "Pod",
  hasGeneration: false,
  withoutStatus: (written) => withStatus(written, undefined),
  takeSpec: (stored, written) => withStatus(written, stored),
  takeStatus: (stored, written) => withStatus(stored, written),
  admit: (pod) => pod,
  nodeName: (pod) => pod.nodeName,
};
