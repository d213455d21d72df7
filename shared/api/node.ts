/**
 * Nodes, and the PersistentVolumes that bind pods to some of them.
 *
 * @module
 */
import type { ApiObject } from "./object.ts";
import type { NodeTerm } from "../placement/bound_pod.ts";

/** Conditions that each take some of the node's CPU out of the market. */
export const NODE_PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** A condition that takes some of the node's CPU out of the market. */
export type NodePressure = typeof NODE_PRESSURES[number];

/** A taint. */
export interface NodeTaint {
  readonly key: string;
  /** Empty where it has none. */
  readonly value: string;
  /** For instance `NoSchedule`. */
  readonly effect: string;
}

/** The trimmed node. */
export interface Node extends ApiObject {
  /** `status.allocatable.cpu`, millicores. */
  readonly allocatableCPU: number;
  /** `status.allocatable.memory`, bytes; absent where it is not told. */
  readonly allocatableMemory?: number;
  readonly ready: boolean;
  readonly pressures: readonly NodePressure[];
  /** True for a node that is tainted by a node autoscaler that will remove it. */
  readonly draining?: true;
  /** When it was cordoned, ms since 1970; absent where it is not, or nobody tells since when. */
  readonly cordonedAtMs?: number;
  /** All its labels; absent: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** True where it takes no more pods, whoever wanted that. */
  readonly cordoned?: true;
  /** Absent: none. */
  readonly taints?: readonly NodeTaint[];
  /** Conditions that hold beside readiness and pressures, for instance `PreemptScheduled`; absent: none. */
  readonly alarms?: readonly string[];
  /** Label `kubernetes.io/os` where it is there and not `linux`. */
  readonly os?: string;
  /** `status.nodeInfo.kubeletVersion`, for instance `v1.36.3`. */
  readonly kubeletVersion?: string;
}

/** The trimmed volume. */
export interface PersistentVolume extends ApiObject {
  /** `namespace/name` of the claim that has it; absent where none does. */
  readonly claim?: string;
  /** Absent: from all nodes. */
  readonly nodes?: readonly NodeTerm[];
}
