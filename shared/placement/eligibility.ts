/**
 * The spec of placement in the labels and annotations of a workload and its namespace, and the rules by which
 * a workload takes part: for webhook and loop alike.
 *
 * @module
 */
import {
  DISRUPTION_DURATION,
  DISRUPTION_SCHEDULE,
  ENABLED,
  MIN_ON_DEMAND,
  PAUSED,
  PLACEMENT_PREFIX,
  SPOT_PERCENTAGE,
} from "../api/placement_keys.ts";
import { type Labels, type LabelSelector, labelsMatch } from "../api/label_selector.ts";
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import { quotedText } from "../quoted_text.ts";
import {
  type DisruptionWindow,
  parseCronSchedule,
  parseWindowDuration,
} from "./disruption_window.ts";

/** The spec of a workload, with defaults. */
export interface PlacementSpec {
  /** The share of replicas that may run on spot nodes, whole percent from 0 to 100. */
  readonly spotPercentage: number;
  /** Replicas on on-demand nodes, whatever the percentage; at most all of them. */
  readonly minOnDemand: number;
  /** When replicas may be moved; absent: always. */
  readonly window?: DisruptionWindow;
  /** True: no running replica is moved. New ones are still placed, or each would have to move later. */
  readonly paused: boolean;
}

/** Labels and annotations of an object. */
export interface LabeledObject {
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** A workload and its namespace. */
export interface EligibilityInput extends LabeledObject {
  readonly namespace: {
    readonly name: string;
    /** Absent while the namespace is not known: it sets nothing, and no selector matches it then. */
    readonly metadata?: LabeledObject | undefined;
  };
}

/** A label or annotation that is invalid or missing. */
export interface PlacementFault {
  readonly object: "workload" | "namespace";
  readonly place: "label" | "annotation";
  /** For instance `spotalis.io/spot-percentage`. */
  readonly key: string;
  /** The value, quoted and cut if it is long; absent if it is missing. */
  readonly value?: string;
  /** The valid values, beginning with "must". */
  readonly remedy: string;
}

/** Why a workload takes no part. */
export interface Ineligibility {
  readonly spec?: undefined;
  readonly reason: PlacementReason;
  readonly message: string;
  /** The parts of the message, if labels or annotations are invalid. */
  readonly faults?: readonly PlacementFault[];
}

/** The spec of a workload that takes part, or why it does not. */
export type Eligibility =
  | { readonly spec: PlacementSpec; readonly faults?: undefined }
  | Ineligibility;

/** Annotations that tune placement. */
const TUNING = [SPOT_PERCENTAGE, MIN_ON_DEMAND, DISRUPTION_SCHEDULE, DISRUPTION_DURATION] as const;

const MOST_ON_DEMAND = 10_000;

/** An annotation; `read` returns undefined or throws a `SyntaxError` for an invalid value. */
interface Annotation<T> extends Pick<PlacementFault, "key" | "remedy"> {
  readonly read: (text: string | undefined) => T | undefined;
}

const PERCENTAGE: Annotation<number> = {
  key: SPOT_PERCENTAGE,
  remedy: "must be a whole number from 0 to 100, with or without %, for instance 70%",
  read: (text) => wholeNumber(text?.replace(/%$/, ""), 100),
};
const FLOOR: Annotation<number> = {
  key: MIN_ON_DEMAND,
  remedy: `must be a whole number from 0 to ${MOST_ON_DEMAND}`,
  read: (text = "0") => wholeNumber(text, MOST_ON_DEMAND),
};
const PAUSE: Annotation<boolean> = {
  key: PAUSED,
  remedy: 'must be "true", or not be there',
  read: (text = "false") => text === "true" || (text === "false" ? false : undefined),
};
const SCHEDULE: Annotation<string> = {
  key: DISRUPTION_SCHEDULE,
  remedy: "must be five fields of cron that name a time, for instance 0 2 * * * (UTC) or " +
    "CRON_TZ=Europe/Berlin 0 2 * * 1-5",
  read: (text = "") => parseCronSchedule(text) && text,
};
const DURATION: Annotation<number> = {
  key: DISRUPTION_DURATION,
  remedy: "must be more than 0 with a unit, for instance 2h or 90m",
  read: (text = "") => parseWindowDuration(text),
};

/** Reads labels and annotations. `configured`: the window of workloads without one of their own. */
function readSpec(input: EligibilityInput, configured: DisruptionWindow | undefined): Eligibility {
  const { annotations: texts } = input;
  const disabled = checkEnabled(input);
  if (disabled !== undefined) return disabled;
  if (TUNING.every((key) => texts[key] === undefined)) {
    return { reason: "PlacementUntuned", message: "spotalis.io/spot-percentage is not there" };
  }
  const faults: PlacementFault[] = [];
  const workload = { object: "workload", texts, faults } as const;
  const spotPercentage = parse(workload, PERCENTAGE);
  const minOnDemand = parse(workload, FLOOR);
  const paused = parse(workload, PAUSE);
  const window = windowOf(input, { configured, faults });
  if (
    faults.length > 0 || spotPercentage === undefined || minOnDemand === undefined ||
    paused === undefined
  ) return invalid(faults);
  return {
    spec: { spotPercentage, minOnDemand, ...(window === undefined ? {} : { window }), paused },
  };
}

function invalid(faults: readonly PlacementFault[]): Ineligibility {
  const message = faults.map(placementFaultText).join("; ");
  return { reason: "ConfigurationError", message, faults };
}

/** `annotation spotalis.io/min-on-demand of the workload is "two": must be …`. */
export function placementFaultText({ object, place, key, value, remedy }: PlacementFault): string {
  return `${place} ${key} of the ${object} is ${value ?? "missing"}: ${remedy}`;
}

/**
 * Why placement is not enabled; undefined if it is. The namespace's label `"false"` takes precedence over
 * all; then the workload's label and annotation, of which `"false"` takes precedence; then the namespace's
 * `"true"`. An invalid label of the namespace is a fault only of workloads with labels or annotations of
 * placement.
 */
function checkEnabled(
  { labels, annotations, namespace: { name, metadata } }: EligibilityInput,
): Ineligibility | undefined {
  const ofNamespace = { object: "namespace", place: "label", text: metadata?.labels[ENABLED] };
  if (ofNamespace.text === "false") {
    return { reason: "NamespaceOptedOut", message: `namespace ${name} opted out` };
  }
  const off = { reason: "PlacementOff", message: 'spotalis.io/enabled is not "true"' } as const;
  const ofWorkload = [
    { object: "workload", place: "label", text: labels[ENABLED] },
    { object: "workload", place: "annotation", text: annotations[ENABLED] },
  ];
  if (ofWorkload.some(({ text }) => text === "false")) return off;
  const hasKeys = [labels, annotations].some((texts) =>
    Object.keys(texts).some((key) => key.startsWith(PLACEMENT_PREFIX))
  );
  const faults = [...ofWorkload, ...(hasKeys ? [ofNamespace] : [])].flatMap(({ text, ...where }) =>
    text === undefined || text === "true" || text === "false" ? [] : [{
      ...where as Pick<PlacementFault, "object" | "place">,
      key: ENABLED,
      value: quotedText(text),
      remedy: 'must be "true" or "false"',
    }]
  );
  if (faults.length > 0) return invalid(faults);
  return [...ofWorkload, ofNamespace].some(({ text }) => text === "true") ? undefined : off;
}

/**
 * The window of the workload, its namespace or the configuration: the first that sets a part of one.
 * Schedule and duration must be set together.
 */
function windowOf(
  { annotations, namespace: { metadata } }: EligibilityInput,
  { configured, faults }: {
    readonly configured: DisruptionWindow | undefined;
    readonly faults: PlacementFault[];
  },
): DisruptionWindow | undefined {
  const found = [
    { object: "workload", texts: annotations, faults } as const,
    { object: "namespace", texts: metadata?.annotations ?? {}, faults } as const,
  ].find(({ texts }) =>
    [DISRUPTION_SCHEDULE, DISRUPTION_DURATION].some((key) => texts[key] !== undefined)
  );
  if (found === undefined) return configured;
  const schedule = parse(found, SCHEDULE);
  const durationMs = parse(found, DURATION);
  return schedule === undefined || durationMs === undefined ? undefined : { schedule, durationMs };
}

/** The value of an annotation; undefined with a fault if it is invalid. */
function parse<T>(
  { object, texts, faults }: Pick<PlacementFault, "object"> & {
    readonly texts: Labels;
    readonly faults: PlacementFault[];
  },
  { key, remedy, read }: Annotation<T>,
): T | undefined {
  const text = texts[key];
  try {
    const value = read(text);
    if (value !== undefined) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const value = text === undefined ? {} : { value: quotedText(text) };
  faults.push({ object, place: "annotation", key, ...value, remedy });
  return undefined;
}

function wholeNumber(text: string | undefined, max: number): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}

/** Kinds of workloads with pods that are placed. */
export const PLACED_KINDS = ["Deployment", "StatefulSet"] as const;

/** One of {@linkcode PLACED_KINDS}. */
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

/**
 * Checks whether the workload takes part. Annotations count only in namespaces that may be placed. Never
 * throws.
 */
export function checkEligibility(input: EligibilityInput, scope: PlacementScope): Eligibility {
  const { namespace: { name, metadata } } = input;
  const { ownNamespace, namespaceSelector, window } = scope;
  if (name === ownNamespace || SYSTEM_NAMESPACES.includes(name)) {
    return { reason: "NamespaceProtected", message: `namespace ${name} is the system's` };
  }
  if (
    namespaceSelector !== undefined &&
    (metadata === undefined || !labelsMatch(metadata.labels, namespaceSelector))
  ) return { reason: "NamespaceNotSelected", message: `namespaceSelector leaves ${name} out` };
  return readSpec(input, window);
}

/** True for kinds with pods that are placed. */
export function isPlacedKind(kind: string): kind is PlacedKind {
  return PLACED_KINDS.some((one) => one === kind);
}
