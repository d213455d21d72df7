/**
 * Small valid objects for the contract suites.
 *
 * @module
 */
import { newAllocation } from "../../../controller/allocation/bounds/publish_bounds.ts";
import { qosClassOf } from "../../../shared/resize/inputs/qos.ts";
import type { Node } from "../../../shared/api/node.ts";
import { NO_RESOURCES, type Pod, type PodContainer } from "../../../shared/api/pod.ts";
import { type ContainerFields, withFields } from "../../fixtures/container_fields.ts";
import type { Desired, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { readPolicySpec, type StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";

const SAMPLE: PodContainer = {
  name: "app",
  sidecar: false,
  ready: false,
  requests: { cpu: 100 },
  limits: { cpu: 200 },
  applied: NO_RESOURCES,
  restartsOnCPU: false,
};

const MEMORY = { memory: 64 * 2 ** 20 };

const SAMPLE_GUARANTEED = withFields(SAMPLE, {
  requests: { cpu: 200, ...MEMORY },
  limits: MEMORY,
});

/** A container with 100 m requested and 200 m allowed. */
export function sampleContainer(change: ContainerFields = {}): PodContainer {
  return withFields(SAMPLE, change);
}

/** A container of a Guaranteed pod, with 200 m requested and allowed. */
export function sampleGuaranteed(change: ContainerFields = {}): PodContainer {
  return withFields(SAMPLE_GUARANTEED, change);
}

/** Differences of one sample pod from another. */
export interface PodChoice {
  readonly namespace?: string;
  readonly nodeName?: string;
  readonly containers?: readonly PodContainer[];
}

/** A pod that was just scheduled. */
export function samplePod(name: string, choice: PodChoice = {}): Pod {
  const { namespace = "shop", nodeName = "node-1", containers = [sampleContainer()] } = choice;
  return {
    metadata: {
      name,
      namespace,
      uid: "",
      resourceVersion: "",
      labels: {},
      annotations: {},
      terminating: false,
    },
    nodeName,
    phase: "Pending",
    qosClass: qosClassOf(containers),
    priority: 0,
    ready: false,
    containers,
    initContainers: [],
    resizeConditions: [],
  };
}

/** A node of four CPUs. */
export function sampleNode(name: string): Node {
  return {
    metadata: { name, uid: "", resourceVersion: "" },
    allocatableCPU: 4000,
    ready: true,
    pressures: [],
  };
}

/** The allocation that a controller would create for the pod. */
export function sampleAllocation(pod: Pod): PodAllocation {
  return newAllocation({ pod });
}

/** A clearing's outcome for a pod of one container. Default price 0.01 per millicore. */
export function sampleDesired(cpuLimit: string, price = 0.01): Desired {
  return {
    desiredCPULimit: cpuLimit,
    containers: [{ name: "app", cpuLimit }],
    market: {
      mode: "congested",
      price,
      demand: 500,
      need: 400,
      credit: 1,
      reason: "Throttled",
      observedBounds: 3,
    },
  };
}

/** A quota's bound on CPU limits, millicores. */
export function cpuLimits(hard: number, used: number): Pick<ResourceQuota, "bounds"> {
  return { bounds: { "limits.cpu": { hard, used } } };
}

/** A quota of 1000 m on limits, of which 700 m are used. */
export function sampleQuota(change: Partial<ResourceQuota> = {}): ResourceQuota {
  return {
    metadata: { name: "cpu", namespace: "shop", uid: "q", resourceVersion: "1" },
    ...cpuLimits(1000, 700),
    scopes: [],
    ...change,
  };
}

/** A policy that recommends for all workloads of its namespace, as it is written. */
export const SAMPLE_POLICY_SPEC = {
  mode: "Recommend",
  selector: { workloadSelector: {} },
  metricsConfig: { provider: "prometheus" },
  resourceBounds: { cpu: { min: "10m", max: "4" }, memory: { min: "16Mi", max: "8Gi" } },
} as const;

/** The same as it is read. */
export function samplePolicy(name: string, namespace = "shop"): StoredPolicy {
  return {
    metadata: { name, namespace, uid: "", resourceVersion: "", generation: 1 },
    ...readPolicySpec(SAMPLE_POLICY_SPEC),
    status: {},
  };
}
