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

/** A `v1.NodeSelector`. In an admission request lists may be null: the server checks them later. */
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

/**
 * The terms of a selector. `matchFields` may only name `metadata.name`, which becomes the label
 * {@linkcode HOSTNAME} here.
 */
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
  /** True for a node that a node autoscaler has tainted and will remove. */
  readonly draining?: true;
  /** When it was cordoned, ms since 1970; absent where it is not cordoned, or the time is unknown. */
  readonly cordonedAtMs?: number;
  /** All its labels; absent: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `spec.unschedulable`. */
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

/** The trimmed PersistentVolume. */
export interface PersistentVolume extends ApiObject {
  /** `namespace/name` of the claim that it is bound to; absent while there is none. */
  readonly claim?: string;
  /** The nodes that can mount it; absent: all. */
  readonly nodes?: readonly NodeTerm[];
}
