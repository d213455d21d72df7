/**
 * Writes to pods of the simulated API: a kubelet's status, resize, eviction, deletion cost.
 *
 * @module
 */
import type { PodResizer } from "../../../shared/resize/patch.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import {
  chargeQuotas,
  checkLimitRanges,
  checkNode,
  resizePod,
  writeDefaults,
} from "./admission.ts";
import type { ApiAccess } from "./request_gate.ts";
import type {
  DeletionCostWriter,
  EvictionAnswer,
  PodEvictor,
  PodRef,
} from "../../../shared/api/ports.ts";
import type { Pod, ResizeCondition, Resources } from "../../../shared/api/pod.ts";
import type { PodDisruptionBudget } from "../../../shared/api/pod_disruption_budget.ts";
import { budgetRefusal } from "../../../shared/placement/node_constraints.ts";
import { labelsMatch } from "../../../shared/api/label_selector.ts";
import { DELETION_COST } from "../../../shared/placement/split.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { createListWatch } from "./list_watch.ts";

/** The port's implementation; `manager` is the field manager that the pod then names. */
export function createPodResizer({ store, gate }: ApiAccess, manager: string): PodResizer {
  return {
    async resize(namespace, podName, patch, options = {}) {
      const key = objectKey({ namespace, name: podName });
      const { Pod: pods } = store.tables;
      return await gate.send(
        { verb: "resize", kind: "Pod", key },
        () =>
          pods.modify(key, (before) => {
            const after = writeDefaults(store, resizePod(before, patch, { manager, ...options }));
            if (after === before) return before;
            checkLimitRanges(store, after);
            checkNode(store, after);
            chargeQuotas(store, { before, after });
            return after;
          }).metadata.resourceVersion,
      );
    },
  };
}

/** The port's implementation. */
export function createPodEvictor({ store, gate }: ApiAccess): PodEvictor {
  const { Pod: pods, PodDisruptionBudget: budgets } = store.tables;

  function budgetsFor({ metadata: { namespace, labels } }: Pod): readonly PodDisruptionBudget[] {
    return budgets.all().filter(({ metadata, selector }) =>
      metadata.namespace === namespace && selector !== undefined && labelsMatch(labels, selector)
    );
  }

  function take(pod: Pod): EvictionAnswer | undefined {
    // A budget does not keep a pod that does not run.
    if (pod.phase !== "Running" || pod.metadata.terminating) return undefined;
    const own = budgetsFor(pod);
    const message = budgetRefusal(own, pod.ready);
    if (message !== undefined) return { is: "blocked", message };
    for (const { metadata, freesUnready } of own) {
      if (!pod.ready && freesUnready) continue;
      budgets.modify(objectKey(metadata), (one) => ({
        ...one,
        disruptionsAllowed: one.disruptionsAllowed - 1,
      }));
    }
    return undefined;
  }

  function evict({ namespace, name, uid }: PodRef): EvictionAnswer {
    const key = objectKey({ namespace, name });
    const pod = pods.get(key);
    if (pod === undefined || pod.metadata.uid !== uid) return { is: "gone" };
    const refusal = take(pod);
    if (refusal !== undefined) return refusal;
    if (pod.nodeName === "") pods.remove(key);
    else {
      pods.modify(key, (one) => ({ ...one, metadata: { ...one.metadata, terminating: true } }));
    }
    return { is: "evicted" };
  }

  return { evict: (pod) => gate.send({ verb: "evict", kind: "Pod" }, () => evict(pod)) };
}

/** The port's implementation. */
export function createDeletionCostWriter({ store, gate }: ApiAccess): DeletionCostWriter {
  const { Pod: pods } = store.tables;
  return {
    write: ({ namespace, name, uid }, cost) =>
      gate.send({ verb: "patch", kind: "Pod" }, () => {
        const key = objectKey({ namespace, name });
        if (pods.get(key)?.metadata.uid !== uid) return false;
        pods.modify(key, (pod) => {
          const annotations = { ...pod.metadata.annotations, [DELETION_COST]: String(cost) };
          return { ...pod, metadata: { ...pod.metadata, annotations } };
        });
        return true;
      }),
  };
}

/** The kubelet's status of a container. */
export interface ContainerReport {
  readonly name: string;
  /** `containerd://<hex>`. */
  readonly containerID: string;
  readonly ready: boolean;
  /** CPU in force. */
  readonly applied: Resources;
}

/** The kubelet's status of a pod. */
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
