/**
 * What a kubelet needs of the simulated API: the pods of its node, and their status.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod, ResizeCondition, Resources } from "../../../shared/api/pod.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { ApiAccess } from "./request_gate.ts";
import { createListWatch } from "./list_watch.ts";

/** What the kubelet reports of a container. */
export interface ContainerReport {
  readonly name: string;
  /** `containerd://<hex>`. */
  readonly containerID: string;
  readonly ready: boolean;
  /** CPU in force. */
  readonly applied: Resources;
}

/** What the kubelet reports of a pod. */
export interface PodReport {
  readonly phase: Pod["phase"];
  readonly ready: boolean;
  readonly containers: readonly ContainerReport[];
  readonly resizeConditions: readonly ResizeCondition[];
}

/** The kubelet's door to the API. */
export interface KubeletLink {
  readonly pods: ListWatch<Pod>;
  /** Writes the pod's status. Throws an `ApiError`: 404, 409 when the UID is another one. */
  report(pod: Pod, report: PodReport): Promise<void>;
  /** Removes a pod that has ended. Throws an `ApiError` as `report`. */
  remove(pod: Pod): Promise<void>;
}

function withReport(stored: Pod, report: PodReport): Pod {
  const containers = stored.containers.map((container) => {
    const found = report.containers.find(({ name }) => name === container.name);
    return found === undefined ? container : { ...container, ...found };
  });
  const { phase, ready, resizeConditions } = report;
  return { ...stored, phase, ready, resizeConditions, containers };
}

/** The door for the kubelet of `nodeName`. */
export function createKubeletLink(access: ApiAccess, nodeName: string): KubeletLink {
  const { store, gate } = access;
  const table = store.tables.Pod;
  return {
    pods: createListWatch(access, "Pod", { nodeName }),
    async report({ metadata }, report) {
      await gate.send(
        { verb: "updateStatus", kind: "Pod" },
        () =>
          table.modify(objectKey(metadata), (stored) => {
            if (stored.metadata.uid !== metadata.uid) {
              throw new ApiError(409, "Conflict", `Pod "${metadata.name}" has another UID`);
            }
            return withReport(stored, report);
          }),
      );
    },
    async remove({ metadata }) {
      await gate.send(
        { verb: "delete", kind: "Pod" },
        () => table.remove(objectKey(metadata), metadata.uid),
      );
    },
  };
}
