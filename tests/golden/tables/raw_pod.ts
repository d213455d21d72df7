/**
 * Objects in Kubernetes' own shape, as far as decision tables draw them.
 *
 * @module
 */
import {
  parseHorizontalPodAutoscaler,
  parseVerticalPodAutoscaler,
} from "../../../adapters/kube/kinds/autoscalers.ts";
import { parseLimitRange, parseResourceQuota } from "../../../adapters/kube/kinds/namespaces.ts";

type HorizontalPodAutoscaler = ReturnType<typeof parseHorizontalPodAutoscaler>;
type VerticalPodAutoscaler = ReturnType<typeof parseVerticalPodAutoscaler>;
type LimitRange = ReturnType<typeof parseLimitRange>;
type ResourceQuota = ReturnType<typeof parseResourceQuota>;

/** Quantities by resource name. */
export type RawList = Readonly<Record<string, string>>;

/** `resources` of a container. */
export interface RawResources {
  readonly requests?: RawList;
  readonly limits?: RawList;
}

/** A container of a pod's spec. */
export interface RawContainer {
  readonly name: string;
  readonly resources: RawResources;
  readonly restartPolicy?: "Always";
  readonly resizePolicy?: readonly {
    readonly resourceName: "cpu" | "memory";
    readonly restartPolicy: "RestartContainer";
  }[];
}

/** A container of a pod's status. */
export interface RawContainerStatus {
  readonly name: string;
  readonly resources?: RawResources;
  readonly allocatedResources?: RawList;
}

type QOSClass = "Guaranteed" | "Burstable" | "BestEffort";

/** The part of a pod that a table stores; {@linkcode wholePod} adds the rest. */
export interface RawPod {
  readonly metadata?: {
    readonly annotations?: RawList;
    readonly labels?: RawList;
    readonly deletionTimestamp?: string;
    readonly creationTimestamp?: string;
    readonly uid?: string;
  };
  readonly spec: {
    readonly containers: readonly RawContainer[];
    readonly initContainers?: readonly RawContainer[];
    readonly os?: { readonly name: string };
    readonly resources?: RawResources;
    readonly nodeName?: string;
    readonly nodeSelector?: RawList;
  };
  readonly status?: {
    /** That of the containers' resources where absent. */
    readonly qosClass?: QOSClass;
    /** Running where absent. */
    readonly phase?: string;
    readonly conditions?: readonly Readonly<Record<string, unknown>>[];
    /** Where it differs from the spec; the kubelet reports the spec of each other container. */
    readonly containerStatuses?: readonly RawContainerStatus[];
    readonly nodeAllocatableResourceClaimStatuses?: readonly unknown[];
  };
}

/** Name, namespace and node of {@linkcode wholePod}. */
export const POD_IDENTITY = {
  name: "web",
  namespace: "shop",
  nodeName: "node-1",
  uid: "uid-web",
} as const;

/** The pod with what all pods of a table have alike: names, versions, a kubelet that has done its work. */
export function wholePod(
  { metadata = {}, spec, status = {} }: RawPod,
  { name = POD_IDENTITY.name, owner }: {
    /** @default {"web"} */
    readonly name?: string;
    /** `ownerReferences[0]`. @default {none} */
    readonly owner?: Readonly<Record<string, unknown>>;
  } = {},
): unknown {
  const reported = (one: RawContainer): unknown => ({
    name: one.name,
    containerID: `containerd://${one.name}`,
    ready: true,
    restartCount: 0,
    resources: one.resources,
    ...(one.resources.requests === undefined ? {} : { allocatedResources: one.resources.requests }),
    ...status.containerStatuses?.find((own) => own.name === one.name),
  });
  return {
    metadata: {
      name,
      namespace: POD_IDENTITY.namespace,
      uid: name === POD_IDENTITY.name ? POD_IDENTITY.uid : `uid-${name}`,
      resourceVersion: "7",
      generation: 3,
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
      ...metadata,
    },
    spec: { nodeName: POD_IDENTITY.nodeName, ...spec },
    status: {
      phase: "Running",
      qosClass: qosClassOfRaw([...spec.containers, ...spec.initContainers ?? []]),
      ...status,
      containerStatuses: spec.containers.map(reported),
      initContainerStatuses: (spec.initContainers ?? [])
        .filter(({ restartPolicy }) => restartPolicy === "Always").map(reported),
    },
  };
}

/** Name, versions and labels of an object. */
export function rawMetadata(
  name: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const { namespace } = POD_IDENTITY;
  return { name, namespace, uid: `uid-${name}`, resourceVersion: "5", ...more };
}

/** The result of `make` for a value; nothing where that is absent. */
export function given<T, R>(value: T | undefined, make: (value: T) => R): readonly R[] {
  return value === undefined ? [] : [make(value)];
}

/** An HPA that aims at this use of a resource in percent. */
export function hpaOf(
  kind: string,
  { resource, percent }: { readonly resource: string; readonly percent: number },
): HorizontalPodAutoscaler {
  const target = { type: "Utilization", averageUtilization: percent };
  return parseHorizontalPodAutoscaler({
    metadata: rawMetadata("hpa"),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind, name: POD_IDENTITY.name },
      metrics: [{ type: "Resource", resource: { name: resource, target } }],
    },
  });
}

/** A VPA in this mode. */
export function vpaOf(
  kind: string,
  { updateMode, ...more }: { readonly updateMode: string; readonly resourcePolicy?: unknown },
): VerticalPodAutoscaler {
  const targetRef = { apiVersion: "apps/v1", kind, name: POD_IDENTITY.name };
  const spec = { targetRef, updatePolicy: { updateMode }, ...more };
  return parseVerticalPodAutoscaler({ metadata: rawMetadata("vpa"), spec });
}

/** A LimitRange with this `spec.limits`. */
export function limitRangeOf(limits: unknown): LimitRange {
  return parseLimitRange({ metadata: rawMetadata("range"), spec: { limits } });
}

/** A ResourceQuota of these amounts. */
export function quotaOf(amounts: unknown): ResourceQuota {
  return parseResourceQuota({ metadata: rawMetadata("quota"), spec: amounts, status: amounts });
}

/** The class that the API server gives a pod of these containers. */
function qosClassOfRaw(containers: readonly RawContainer[]): QOSClass {
  const lists = containers.map(({ resources: { requests = {}, limits = {} } }) => ({
    requests,
    limits,
  }));
  const isEmpty = (list: RawList): boolean => Object.keys(list).length === 0;
  if (lists.every(({ requests, limits }) => isEmpty(requests) && isEmpty(limits))) {
    return "BestEffort";
  }
  const isGuaranteed = lists.every(({ requests, limits }) =>
    ["cpu", "memory"].every((name) =>
      limits[name] !== undefined && (requests[name] ?? limits[name]) === limits[name]
    )
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
