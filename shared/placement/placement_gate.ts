/**
 * Does a workload take part in placement? The one answer for webhook and controller.
 *
 * @module
 */
import { type LabelSelector, labelsMatch } from "../api/label_selector.ts";
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import type { DisruptionWindow } from "./disruption_window.ts";
import type { Worded } from "./enabled_word.ts";
import { placementFaultText } from "./placement_fault.ts";
import type { PlacementWish } from "./placement_wish.ts";
import { type PlacementReading, readPlacement } from "./read_placement.ts";

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
export interface GateSubject extends Worded {
  readonly kind: string;
  readonly namespace: {
    readonly name: string;
    /** Absent while the namespace is not known; no selector matches it then. */
    readonly words?: Worded | undefined;
  };
}

/** What may happen to the workload's pods. */
export type GateAnswer =
  | { readonly wish: PlacementWish; readonly faults?: undefined }
  | {
    readonly wish?: undefined;
    readonly reason: PlacementReason;
    readonly message: string;
    /** Each part of the message, where that has some: what is wrong with the words. */
    readonly faults?: readonly string[];
  };

type GateRule = (subject: GateSubject, scope: PlacementScope) => GateAnswer | undefined;

const kindIsPlaced: GateRule = ({ kind }) =>
  isPlacedKind(kind) ? undefined : { reason: "KindNotPlaced", message: `it is a ${kind}` };

const namespaceIsNobodys: GateRule = ({ namespace: { name } }, { ownNamespace }) =>
  name === ownNamespace || SYSTEM_NAMESPACES.includes(name)
    ? { reason: "NamespaceProtected", message: `namespace ${name} is the system's` }
    : undefined;

const namespaceIsSelected: GateRule = ({ namespace: { name, words } }, { namespaceSelector }) =>
  namespaceSelector === undefined ||
    (words !== undefined && labelsMatch(words.labels, namespaceSelector))
    ? undefined
    : { reason: "NamespaceNotSelected", message: `namespaceSelector leaves ${name} out` };

/** In this order, and before any word is read: whoever can't take part hears nothing of annotations. */
const RULES: readonly GateRule[] = [kindIsPlaced, namespaceIsNobodys, namespaceIsSelected];

/** The wish of a workload that takes part; otherwise the reason why its pods are left as they are. */
export function placementGate(subject: GateSubject, scope: PlacementScope): GateAnswer {
  for (const rule of RULES) {
    const answer = rule(subject, scope);
    if (answer !== undefined) return answer;
  }
  const { name, words } = subject.namespace;
  return answerOf(readPlacement({ workload: subject, namespace: words }, scope.window), name);
}

/** True of kinds whose pods are placed. */
export function isPlacedKind(kind: string): kind is PlacedKind {
  return PLACED_KINDS.some((one) => one === kind);
}

function answerOf(reading: PlacementReading, namespace: string): GateAnswer {
  switch (reading.is) {
    case "wished":
      return { wish: reading.wish };
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
