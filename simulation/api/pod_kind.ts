/**
 * Pods in the store: their status is what the kubelet reports.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { StoredKind } from "./stored_kind.ts";

type ContainerStatus = Pick<PodContainer, "containerID" | "ready" | "appliedLimitCPU">;

function withContainerStatus(spec: PodContainer, status: ContainerStatus): PodContainer {
  const { containerID: _id, appliedLimitCPU: _applied, ...rest } = spec;
  return {
    ...rest,
    ready: status.ready,
    ...(status.containerID === undefined ? {} : { containerID: status.containerID }),
    ...(status.appliedLimitCPU === undefined ? {} : { appliedLimitCPU: status.appliedLimitCPU }),
  };
}

/** `spec` with the status of `from`; a container that `from` does not know has none. */
function withStatus(spec: Pod, from: Pod | undefined): Pod {
  const containers = (ofSpec: readonly PodContainer[], ofStatus: readonly PodContainer[]) =>
    ofSpec.map((container) =>
      withContainerStatus(
        container,
        ofStatus.find(({ name }) => name === container.name) ?? { ready: false },
      )
    );
  return {
    ...spec,
    phase: from?.phase ?? "Pending",
    ready: from?.ready ?? false,
    resizeConditions: from?.resizeConditions ?? [],
    containers: containers(spec.containers, from?.containers ?? []),
    initContainers: containers(spec.initContainers, from?.initContainers ?? []),
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
