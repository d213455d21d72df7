/**
 * Which workloads take part in placement, for webhook and loop alike.
 *
 * @module
 */
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import { type LabelSelector, labelsMatch } from "../api/label_selector.ts";
import type { DisruptionWindow } from "./disruption_window.ts";
import {
  type LabeledObject,
  placementFaultText,
  type PlacementSpec,
  readPlacementSpec,
  type SpecReading,
} from "./placement_spec.ts";

/** Kinds whose pods are placed. */
export const PLACED_KINDS = ["Deployment", "StatefulSet"] as const;

/** A kind whose pods are placed. */
export type PlacedKind = typeof PLACED_KINDS[number];

/** Namespaces that are never placed, beside the installation's. */
export const SYSTEM_NAMESPACES: readonly string[] = [
  "kube-system",
  "kube-public",
  "kube-node-lease",
];

/** The settings that decide which workloads take part. */
export interface PlacementScope {
  /** The installation's namespace. */
  readonly ownNamespace: string;
  /** Absent: all namespaces. */
  readonly namespaceSelector?: LabelSelector;
  /** For workloads and namespaces without one. */
  readonly window?: DisruptionWindow;
}

/** A workload and its namespace. */
export interface EligibilityInput extends LabeledObject {
  readonly kind: string;
  readonly namespace: {
    readonly name: string;
    /** Absent while the namespace is not known; no selector matches it then. */
    readonly metadata?: LabeledObject | undefined;
  };
}

/** The spec of a workload that takes part, or why it does not. */
export type Eligibility =
  | { readonly spec: PlacementSpec; readonly faults?: undefined }
  | {
    readonly spec?: undefined;
    readonly reason: PlacementReason;
    readonly message: string;
    /** The parts of the message, if labels or annotations are invalid. */
    readonly faults?: readonly string[];
  };

/** Checks whether the workload takes part. Annotations count only in namespaces that may be placed. */
export function checkEligibility(input: EligibilityInput, scope: PlacementScope): Eligibility {
  const { kind, namespace: { name, metadata } } = input;
  const { ownNamespace, namespaceSelector, window } = scope;
  if (!isPlacedKind(kind)) return { reason: "KindNotPlaced", message: `it is a ${kind}` };
  if (name === ownNamespace || SYSTEM_NAMESPACES.includes(name)) {
    return { reason: "NamespaceProtected", message: `namespace ${name} is the system's` };
  }
  if (
    namespaceSelector !== undefined &&
    (metadata === undefined || !labelsMatch(metadata.labels, namespaceSelector))
  ) return { reason: "NamespaceNotSelected", message: `namespaceSelector leaves ${name} out` };
  return answerOf(readPlacementSpec({ workload: input, namespace: metadata }, window), name);
}

/** True for kinds with pods that are placed. */
export function isPlacedKind(kind: string): kind is PlacedKind {
  return PLACED_KINDS.some((one) => one === kind);
}

function answerOf(reading: SpecReading, namespace: string): Eligibility {
  switch (reading.is) {
    case "valid":
      return { spec: reading.spec };
    case "off":
      return { reason: "PlacementOff", message: 'spotalis.io/enabled is not "true"' };
    case "namespace-off":
      return { reason: "NamespaceOptedOut", message: `namespace ${namespace} opted out` };
    case "untuned":
      return { reason: "PlacementUntuned", message: "spotalis.io/spot-percentage is not there" };
    case "invalid": {
      const faults = reading.faults.map(placementFaultText);
      return { reason: "ConfigurationError", message: faults.join("; "), faults };
    }
  }
}
