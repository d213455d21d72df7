/**
 * The fields that this product reads of the API's own kinds, as JSON has them: quantities and times are
 * text. The server has validated them, so readers don't. client-node's types have `Date` for times, and
 * load its whole API and Node's types.
 *
 * @module
 */
import type { NodeSelector } from "../../../shared/api/node.ts";

/** `T`, read-only at any depth. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;

/** Text by name: labels, annotations, quantities by resource. */
export type Texts = Readonly<Record<string, string>>;

/** A time; null where it was never set. */
export type RawTime = string | null;

/** `metadata` of any object. */
export type RawMetadata = DeepReadonly<{
  name: string;
  /** Absent on cluster-scoped objects. */
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  labels?: Texts;
  annotations?: Texts;
  creationTimestamp?: RawTime;
  deletionTimestamp?: string;
  ownerReferences?: RawOwner[];
  managedFields?: unknown[];
}>;

/** An entry of `ownerReferences`. */
export type RawOwner = DeepReadonly<
  { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }
>;

/** An object with its spec and status; a status is absent until its first write. */
export interface RawObject<Spec, Status = unknown> {
  readonly metadata: RawMetadata;
  readonly spec: DeepReadonly<Spec>;
  readonly status?: DeepReadonly<Status>;
}

/** A condition of a status. */
export type RawCondition = DeepReadonly<{
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: RawTime;
  observedGeneration?: number;
}>;

/** `resources` of a container or of a pod. */
export type RawResources = DeepReadonly<{ requests?: Texts; limits?: Texts }>;

/** A container in a pod's spec. */
export type RawContainer = DeepReadonly<{
  name: string;
  restartPolicy?: string;
  resources?: RawResources;
  resizePolicy?: { resourceName: string; restartPolicy: string }[];
}>;

/** A container in a pod's status. */
export type RawContainerStatus = DeepReadonly<{
  name: string;
  ready: boolean;
  restartCount: number;
  containerID?: string;
  state?: RawContainerState;
  lastState?: RawContainerState;
  resources?: RawResources;
  allocatedResources?: Texts;
}>;

/** A container's state: one of three. */
export interface RawContainerState {
  running?: { startedAt?: RawTime };
  waiting?: { reason?: string };
  terminated?: { exitCode: number; reason?: string; finishedAt?: RawTime };
}

/** A requirement of a label selector. */
export type RawRequirement = DeepReadonly<{ key: string; operator: string; values?: string[] }>;

/** `metav1.LabelSelector`. */
export type RawSelector = DeepReadonly<{
  matchLabels?: Texts;
  matchExpressions?: RawRequirement[];
}>;

/** The spec of a pod, or of a template. */
export type RawPodSpec = DeepReadonly<{
  nodeName?: string;
  containers: RawContainer[];
  initContainers?: RawContainer[];
  resources?: RawResources;
  overhead?: Texts;
  priority?: number;
  priorityClassName?: string;
  activeDeadlineSeconds?: number;
  os?: { name: string };
  nodeSelector?: Texts;
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector };
  };
  volumes?: { persistentVolumeClaim?: { claimName: string } }[];
}>;

/** The status of a pod. */
export type RawPodStatus = DeepReadonly<{
  phase?: string;
  qosClass?: string;
  conditions?: RawCondition[];
  podIP?: string;
  startTime?: RawTime;
  containerStatuses?: RawContainerStatus[];
  initContainerStatuses?: RawContainerStatus[];
  nodeAllocatableResourceClaimStatuses?: unknown[];
}>;

/** A pod template. */
export type RawTemplate = DeepReadonly<{ spec: RawPodSpec }>;

/** A Deployment, StatefulSet or DaemonSet; each has some of the fields. */
export type RawWorkload = RawObject<{
  replicas?: number;
  paused?: boolean;
  template: RawTemplate;
  ordinals?: { start?: number };
  updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
}, {
  observedGeneration?: number;
  conditions?: RawCondition[];
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  desiredNumberScheduled?: number;
  currentNumberScheduled?: number;
  updatedNumberScheduled?: number;
}>;

/** A Node. */
export type RawNode = RawObject<{
  unschedulable?: boolean;
  taints?: { key: string; value?: string; effect: string; timeAdded?: string }[];
}, {
  allocatable?: Texts;
  conditions?: RawCondition[];
  nodeInfo?: { kubeletVersion: string };
}>;
