/**
 * Does a workload take part in placement? The one answer for webhook and controller.
 *
 * @module
 */
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import { labelsMatch } from "../rightsizing/label_match.ts";
import type { LabelSelector } from "../rightsizing/policy_spec.ts";
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

/** Where nothing is ever placed; the product's own namespace is another. */
export const SYSTEM_NAMESPACES: readonly string[] = [
  "kube-system",
  "kube-public",
  "kube-node-lease",
];

/** The settings that decide who takes part. */
export interface PlacementScope {
  /** Where this product runs. */
  readonly ownNamespace: string;
  /** Absent: all namespaces. */
  readonly namespaceSelector?: LabelSelector;
  /** For workloads and namespaces that name none. */
  readonly window?: DisruptionWindow;
}

/** Who is asked about. */
export interface EligibilityInput extends LabeledObject {
  readonly kind: string;
  readonly namespace: {
    readonly name: string;
    /** Absent while the namespace is not known; no selector matches it then. */
    readonly metadata?: LabeledObject | undefined;
  };
}

/** What may happen to the workload's pods. */
export type Eligibility =
  | { readonly spec: PlacementSpec; readonly faults?: undefined }
  | {
    readonly spec?: undefined;
    readonly reason: PlacementReason;
    readonly message: string;
    /** Each part of the message, where that has some: what is wrong with the words. */
    readonly faults?: readonly string[];
  };

type GateRule = (subject: EligibilityInput, scope: PlacementScope) => Eligibility | undefined;

const kindIsPlaced: GateRule = ({ kind }) =>
  isPlacedKind(kind) ? undefined : { reason: "KindNotPlaced", message: `it is a ${kind}` };

const namespaceIsNobodys: GateRule = ({ namespace: { name } }, { ownNamespace }) =>
  name === ownNamespace || SYSTEM_NAMESPACES.includes(name)
    ? { reason: "NamespaceProtected", message: `namespace ${name} is the system's` }
    : undefined;

const namespaceIsSelected: GateRule = ({ namespace: { name, metadata } }, { namespaceSelector }) =>
  namespaceSelector === undefined ||
    (metadata !== undefined && labelsMatch(metadata.labels, namespaceSelector))
    ? undefined
    : { reason: "NamespaceNotSelected", message: `namespaceSelector leaves ${name} out` };

/** In this order, and before any word is read: whoever can't take part hears nothing of annotations. */
const RULES: readonly GateRule[] = [kindIsPlaced, namespaceIsNobodys, namespaceIsSelected];

/** The spec of a workload that takes part; otherwise the reason why its pods are left as they are. */
export function checkEligibility(subject: EligibilityInput, scope: PlacementScope): Eligibility {
  for (const rule of RULES) {
    const answer = rule(subject, scope);
    if (answer !== undefined) return answer;
  }
  const { name, metadata } = subject.namespace;
  return answerOf(
    readPlacementSpec({ workload: subject, namespace: metadata }, scope.window),
    name,
  );
}

/** True of kinds whose pods are placed. */
export function isPlacedKind(kind: string): kind is PlacedKind {
  return PLACED_KINDS.some((one) => one === kind);
}

function answerOf(reading: SpecReading, namespace: string): Eligibility {
  switch (reading.is) {
    case "wished":
      return { spec: reading.spec };
    case "off":
      return { reason: "PlacementOff", message: 'spotalis.io/enabled is not "true"' };
    case "namespace-off":
      return { reason: "NamespaceOptedOut", message: `namespace ${namespace} opted out` };
    case "untuned":
      return { reason: "PlacementUntuned", message: "spotalis.io/spot-percentage is not there" };
    case "faulty": {
      const faults = reading.faults.map(placementFaultText);
      return { reason: "ConfigurationError", message: faults.join("; "), faults };
    }
  }
}
