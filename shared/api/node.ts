/**
 * Nodes, and the PersistentVolumes that bind pods to some of them.
 *
 * @module
 */
import type { ApiObject } from "./object.ts";

/** Conditions that each lower the market's capacity by a tenth. */
export const NODE_PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** One of {@linkcode NODE_PRESSURES}. */
export type NodePressure = typeof NODE_PRESSURES[number];

/** A taint. */
export interface NodeTaint {
  readonly key: string;
  /** Empty where it has none. */
  readonly value: string;
  /** For instance `NoSchedule`. */
  readonly effect: string;
}

/** One expression of a node selector, as `v1.NodeSelectorRequirement`. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** One term: all its expressions must hold. */
export type NodeTerm = readonly NodeRequirement[];

/** The label that identifies a node. */
export const HOSTNAME = "kubernetes.io/hostname";

/** A `v1.NodeSelector`. In a pod that was sent for admission lists may be null: servers refuse that later. */
export interface NodeSelector {
  readonly nodeSelectorTerms:
    | readonly Readonly<
      Partial<Record<"matchExpressions" | "matchFields", readonly SentRequirement[] | null>>
    >[]
    | null;
}

/** A `v1.NodeSelectorRequirement`; some operators have no values. */
export interface SentRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

/** Its terms. The only field that they may name, the node's name, becomes its label of the host name. */
export function nodeTermsOf({ nodeSelectorTerms }: NodeSelector): readonly NodeTerm[] {
  return (nodeSelectorTerms ?? []).map(({ matchExpressions, matchFields }) =>
    [
      ...matchExpressions ?? [],
      ...(matchFields ?? []).map((one) => ({ ...one, key: HOSTNAME })),
    ].map(({ key, operator, values }) => ({
      key,
      operator: operator as NodeRequirement["operator"],
      values: values ?? [],
    }))
  );
}

/** The trimmed node. */
export interface Node extends ApiObject {
  /** `status.allocatable.cpu`, millicores. */
  readonly allocatableCPU: number;
  /** `status.allocatable.memory`, bytes; absent where it is not reported. */
  readonly allocatableMemory?: number;
  readonly ready: boolean;
  readonly pressures: readonly NodePressure[];
  /** True for a node that is tainted by a node autoscaler that will remove it. */
  readonly draining?: true;
  /** When it was cordoned, ms since 1970; absent where it is not, or where the time is unknown. */
  readonly cordonedAtMs?: number;
  /** All its labels; absent: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** True where it takes no more pods, for any reason. */
  readonly cordoned?: true;
  /** Absent: none. */
  readonly taints?: readonly NodeTaint[];
  /**
   * Conditions that hold beside readiness and pressures, for instance `PreemptScheduled`; absent: none.
   */
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
