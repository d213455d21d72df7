/**
 * What the market's decision table draws: a pod, its allocation, and what bounds it.
 *
 * @module
 */
import type { RawContainer, RawPod, RawResources } from "../raw_pod.ts";
import type { Draw } from "../decision_table.ts";

/** A refusal of the API server. */
export interface RawRefusal {
  readonly code: number;
  readonly message: string;
  readonly causes?: readonly string[];
}

/** One input of the table. What is absent is as usual, or is not there. */
export interface MarketInput {
  /** A person with `kubectl coalloc resize`; absent: the controller. */
  readonly by?: "person";
  readonly pod: RawPod;
  readonly node?: { readonly kubeletVersion?: string; readonly os?: string };
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** `spec.limits` of a LimitRange. */
  readonly limitRange?: readonly Readonly<Record<string, unknown>>[];
  /** Of a ResourceQuota. */
  readonly quota?: { readonly hard: RawQuantities; readonly used: RawQuantities };
  /** `spec.updatePolicy.updateMode` of a VerticalPodAutoscaler for the pod's workload. */
  readonly vpaMode?: string;
  /** `averageUtilization` of CPU of a HorizontalPodAutoscaler for it. */
  readonly hpaUtilization?: number;
  /** Wanted `limits.cpu` by container: the agent's, or the person's. Absent: not yet. */
  readonly wanted?: Readonly<Record<string, string>>;
  /** Fields of the PodAllocation's `spec` that differ from the pod. */
  readonly allocation?: Readonly<Record<string, string>>;
  /** Bounds by container, millicores; wide ones where absent. */
  readonly bounds?: Readonly<
    Record<string, { readonly floor: number; readonly ceiling: number; readonly held?: string }>
  >;
  /** The allocation has containers, but no `spec.market`. */
  readonly marketMissing?: true;
  /** `spec.market.observedBounds`; `status.bounds.revision` is 3. */
  readonly observedBounds?: number;
  /** `status.originalLimits`; 200m for each wanted one where absent. */
  readonly originalLimits?: Readonly<Record<string, string>>;
  readonly settings?:
    & Readonly<
      Partial<Record<"market" | "dryRun" | "resizeServed", boolean>>
    >
    & {
      readonly managementPolicy?: "OptIn";
      readonly excludedNamespaces?: readonly string[];
      readonly maxStep?: number;
    };
  readonly agentSilent?: true;
  readonly originalUnknown?: true;
  /** Left of a back-off, and until the pod's turn. */
  readonly backOffMs?: number;
  readonly turnInMs?: number;
  /** Copies of the API's objects that are out of sync. */
  readonly outOfSync?: readonly string[];
  /** Left of the least time between two resizes, and of the hold of a pod that oscillates. */
  readonly restMs?: number;
  readonly oscillatingMs?: number;
  /** The API server's answer to a resize; it takes it where absent. */
  readonly refusal?: RawRefusal;
}

type RawQuantities = NonNullable<RawResources["limits"]>;

/** Changes an input so that the case applies. */
export type MarketCase = (input: MarketInput, draw: Draw) => MarketInput;

/** The input with a changed pod. */
export function withPod(input: MarketInput, change: (pod: RawPod) => RawPod): MarketInput {
  return { ...input, pod: change(input.pod) };
}

/** The input with these fields of the pod's status. */
export function withStatus(input: MarketInput, status: RawPod["status"]): MarketInput {
  return withPod(input, (pod) => ({ ...pod, status: { ...pod.status, ...status } }));
}

/** The input with these annotations of the pod. */
export function withAnnotations(
  input: MarketInput,
  annotations: Readonly<Record<string, string>>,
): MarketInput {
  return withPod(input, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata?.annotations, ...annotations } },
  }));
}

/** The input with each container of the pod changed. */
export function withContainers(
  input: MarketInput,
  change: (container: RawContainer, index: number) => RawContainer,
): MarketInput {
  return withPod(input, (pod) => ({
    ...pod,
    spec: { ...pod.spec, containers: pod.spec.containers.map(change) },
  }));
}

/** Each container with a request that is its limit. */
export function guaranteed(input: MarketInput): MarketInput {
  const made = withContainers(input, ({ resources, ...one }) => {
    const list = { memory: "64Mi", cpu: resources.limits?.["cpu"] ?? "200m" };
    return { ...one, resources: { requests: list, limits: list } };
  });
  const { initContainers: _none, ...spec } = made.pod.spec;
  const annotated = withAnnotations(made, { "mbcas.io/skip-guaranteed": "false" });
  return { ...annotated, pod: { ...annotated.pod, spec } };
}

const forbidden = 'pods "web" is forbidden: ';

/** Each reason of a refusal at least once. */
export const MARKET_REFUSALS: readonly RawRefusal[] = [
  { code: 400, message: 'admission webhook "policy.example.com" denied the request: no' },
  { code: 422, message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no" },
  { code: 403, message: `${forbidden}exceeded quota: q, requested: limits.cpu=100m` },
  { code: 403, message: `${forbidden}maximum cpu usage per Container is 1, but limit is 2` },
  { code: 403, message: `${forbidden}node didn't have enough capacity`, causes: ["NodeCapacity"] },
  { code: 422, message: "pods with pod-level resources cannot be resized" },
  { code: 422, message: "static pods cannot be resized" },
  { code: 422, message: "windows pods cannot be resized", causes: ["UnsupportedPlatform"] },
  { code: 422, message: "pods with node allocatable resource claims cannot be resized" },
  { code: 422, message: "Pod running on node without support for resize" },
  { code: 422, message: "Pod QOS Class may not change as a result of resizing" },
  { code: 404, message: 'pods "web" not found' },
  { code: 409, message: "the object has been modified" },
  { code: 429, message: "too many requests" },
  { code: 500, message: "failed calling webhook" },
  { code: 503, message: "the server is not available" },
  { code: 422, message: "something else" },
];
