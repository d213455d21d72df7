/**
 * A pod as this product sees it: the few fields it uses, parsed once at the edge.
 *
 * @module
 */
import type { ApiObject } from "./object.ts";
import type { NodeTerm } from "./node.ts";

/** Quality-of-service class, as the API server computed it. */
export type QOSClass = "Guaranteed" | "Burstable" | "BestEffort";

/** The resources of a container that this product changes. */
export type ResourceName = "cpu" | "memory";

/** CPU in millicores and memory in bytes. */
export interface ResourceAmounts {
  readonly cpu?: number;
  readonly memory?: number;
}

/** Requests and limits, as in the spec of a container. In a change, an absent amount stays as it is. */
export interface Resources {
  readonly requests: ResourceAmounts;
  readonly limits: ResourceAmounts;
}

/** Neither requests nor limits. */
export const NO_RESOURCES: Resources = { requests: {}, limits: {} };

/** The container, or its resources alone, with these amounts in place of its present ones. */
export function withResources<T extends Resources>(
  container: T,
  { requests, limits }: Partial<Resources>,
): T {
  return {
    ...container,
    requests: { ...container.requests, ...requests },
    limits: { ...container.limits, ...limits },
  };
}

/** A container or restartable init container (sidecar), with the resources of its spec. */
export interface PodContainer extends Resources {
  readonly name: string;
  /** True for a restartable init container, which a patch has under `initContainers`. */
  readonly sidecar: boolean;
  /** `containerd://<hex>`; absent until it was started. */
  readonly containerID?: string;
  readonly ready: boolean;
  /**
   * Requested or limited resources beside CPU and memory, as `requests.<resource>` and
   * `limits.<resource>`; absent: none.
   */
  readonly otherResources?: readonly string[];
  /** How many sidecars start before this plain init container; absent: none. */
  readonly sidecarsBefore?: number;
  /**
   * In force: the limits of `status.containerStatuses[].resources`, and the CPU request of
   * `allocatedResources`. Where the kubelet does not report that, the request is
   * `resources.requests.cpu`, which comes from the cgroup and is coarser. No memory request.
   */
  readonly applied: Resources;
  /** True when a CPU change restarts the container (`resizePolicy: RestartContainer`). */
  readonly restartsOnCPU: boolean;
  /** True when a memory change restarts the container; absent when it does not. */
  readonly restartsOnMemory?: true;
  /**
   * The requests that the kubelet has allocated (`status.containerStatuses[].allocatedResources`,
   * which holds no limits); kept only while the pod has a resize condition without a generation, or one
   * that says that a resize waits or has failed.
   */
  readonly allocated?: ResourceAmounts;
  /** When its present run began, ms since 1970; absent while it does not run. */
  readonly startedAtMs?: number;
  /** When it was last started again, ms since 1970; absent when it never was. */
  readonly restartedAtMs?: number;
  /**
   * When it was last OOM-killed, ms since 1970; absent where neither its present state nor its last one
   * says so. This time, in whole seconds, distinguishes kills.
   */
  readonly oomKilledAtMs?: number;
  /** True while the kubelet waits before it starts a container that crashed again. */
  readonly crashLooping?: true;
  /** Field managers of `limits.cpu`, see `limitManagersOf()`; absent when none is recorded. */
  readonly limitManagers?: readonly string[];
}

/** The kubelet's resize condition: `PodResizePending` or `PodResizeInProgress`. */
export interface ResizeCondition {
  readonly type: "PodResizePending" | "PodResizeInProgress";
  /** `Deferred`, `Infeasible`, `Error` or empty. */
  readonly reason: string;
  readonly message: string;
  /** The `metadata.generation` that it refers to; absent from kubelets before 1.34. */
  readonly observedGeneration?: number;
}

/** The controller of a pod, for instance its ReplicaSet. */
export interface PodOwner {
  /** For instance `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The trimmed pod. */
export interface Pod extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly terminating: boolean;
    /** Grows with each change of the spec; absent where it is not known. */
    readonly generation?: number;
    /** The owner reference with `controller: true`; absent on a bare pod. */
    readonly owner?: PodOwner;
  };
  /** Empty until scheduled. */
  readonly nodeName: string;
  /** Absent until the pod has an address. */
  readonly ip?: string;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly qosClass: QOSClass;
  /** `spec.priority`; 0 without a class. */
  readonly priority: number;
  readonly priorityClassName?: string;
  /**
   * When the kubelet acknowledged it (`status.startTime`), before it pulled images, ms since 1970; absent
   * until then.
   */
  readonly startTimeMs?: number;
  /** True where `spec.activeDeadlineSeconds` is set, as quotas' scope `Terminating` asks. */
  readonly hasDeadline?: true;
  readonly ready: boolean;
  /** Since when it is Ready, ms since 1970; absent while it is not. */
  readonly readySinceMs?: number;
  readonly containers: readonly PodContainer[];
  /** Init containers that are not sidecars; they count for the QoS class, LimitRanges and quotas. */
  readonly initContainers: readonly PodContainer[];
  /** `spec.resources`: of all containers together; absent where it is not set. */
  readonly podLevel?: Resources;
  /** CPU of `spec.overhead`, which quotas count; absent where the RuntimeClass has none. */
  readonly overheadCPU?: number;
  /** True where `spec.os.name` is `windows`. */
  readonly windows?: true;
  /** True where device claims hold CPU or memory of the node for the pod. */
  readonly claimsNodeResources?: true;
  /** When it was made, ms since 1970; absent where it is unknown. */
  readonly createdAtMs?: number;
  /** Labels that its node must have; absent: none. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Its required node affinity; absent where it has none. */
  readonly requiredNodes?: readonly NodeTerm[];
  /** Names of the PersistentVolumeClaims that it mounts; absent: none. */
  readonly claims?: readonly string[];
  /**
   * Since when the scheduler finds no node for it, ms since 1970; absent where it has one, or just
   * began.
   */
  readonly unschedulableSinceMs?: number;
  readonly resizeConditions: readonly ResizeCondition[];
}

/** True for a pod if all its containers have ended for good. */
export function isFinished({ phase }: Pick<Pod, "phase">): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
