/**
 * From labels and annotations to what a workload asks of placement.
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
import { quotedText } from "../quoted_text.ts";
import {
  type DisruptionWindow,
  parseCronSchedule,
  parseWindowDuration,
} from "./disruption_window.ts";

/**
 * A spec; `off`; the namespace took it out; `untuned`, enabled without a word of how; or what is wrong
 * with the words, at least one fault.
 */
export type SpecReading =
  | { readonly is: "wished"; readonly spec: PlacementSpec }
  | { readonly is: "off" | "namespace-off" | "untuned" }
  | { readonly is: "faulty"; readonly faults: readonly PlacementFault[] };

/** Any of them and the workload asks for something. */
const TUNING = [SPOT_PERCENTAGE, MIN_ON_DEMAND, DISRUPTION_SCHEDULE, DISRUPTION_DURATION] as const;

const PERCENTAGE = "must be a whole number from 0 to 100, with or without %, for instance 70%";
const MOST_ON_DEMAND = 10_000;
const FLOOR = `must be a whole number from 0 to ${MOST_ON_DEMAND}`;
const PAUSE = 'must be "true", or not be there';

/**
 * What the workload asks for, or each fault in it; whatever stands in the annotations, it does not throw.
 * `configured` is the window of those that name none.
 */
export function readPlacementSpec(
  words: SpecSources,
  configured?: DisruptionWindow,
): SpecReading {
  const enabled = enabledState(words);
  if (typeof enabled !== "string") return { is: "faulty", faults: enabled };
  if (enabled !== "on") return { is: enabled };
  const { annotations } = words.workload;
  if (TUNING.every((key) => textAt(annotations, key) === undefined)) return { is: "untuned" };
  const faults: PlacementFault[] = [];
  const word = <T>(
    key: string,
    read: (text: string | undefined) => T | undefined,
    { remedy, instead }: { readonly remedy: string; readonly instead: T },
  ): T => {
    const text = textAt(annotations, key);
    const value = read(text);
    if (value !== undefined) return value;
    faults.push({
      of: "workload",
      place: "annotation",
      key,
      ...(text === undefined ? {} : { value: quotedText(text) }),
      remedy,
    });
    return instead;
  };
  const spotPercentage = word(SPOT_PERCENTAGE, percentageOf, { remedy: PERCENTAGE, instead: 0 });
  const minOnDemand = word(MIN_ON_DEMAND, floorOf, { remedy: FLOOR, instead: 0 });
  const paused = word(PAUSED, pauseOf, { remedy: PAUSE, instead: false });
  const { window, faults: windowFaults } = readWindow(words, configured);
  faults.push(...windowFaults);
  if (faults.length > 0) return { is: "faulty", faults };
  const spec = {
    spotPercentage,
    minOnDemand,
    ...(window === undefined ? {} : { window }),
    paused,
  };
  return { is: "wished", spec };
}

function percentageOf(text: string | undefined): number | undefined {
  return wholeNumber(text?.replace(/%$/, ""), 100);
}

function floorOf(text: string | undefined): number | undefined {
  return text === undefined ? 0 : wholeNumber(text, MOST_ON_DEMAND);
}

function pauseOf(text: string | undefined): boolean | undefined {
  if (text === undefined || text === "false") return false;
  return text === "true" ? true : undefined;
}

function wholeNumber(text: string | undefined, most: number): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= most ? value : undefined;
}

/** The spec, with its defaults. */
export interface PlacementSpec {
  /** The share of replicas that may run on spot nodes, whole percent from 0 to 100. */
  readonly spotPercentage: number;
  /** Replicas on on-demand nodes, whatever the share; more than there are: all of them. */
  readonly minOnDemand: number;
  /** When replicas may be moved; absent: always. */
  readonly window?: DisruptionWindow;
  /** True: no running replica is moved. New ones are still placed, or each would have to move later. */
  readonly paused: boolean;
}

/** A word that can't be read, or is missing. */
export interface PlacementFault {
  /** Whose word it is. */
  readonly of: "workload" | "namespace";
  readonly place: "label" | "annotation";
  /** For instance `spotalis.io/spot-percentage`. */
  readonly key: string;
  /** What stands there, in quotes and cut where it is long; absent where nothing does. */
  readonly value?: string;
  /** What to write, beginning with "must". */
  readonly remedy: string;
}

/** `annotation spotalis.io/min-on-demand of the workload is "two": must be …`. */
export function placementFaultText({ of, place, key, value, remedy }: PlacementFault): string {
  return `${place} ${key} of the ${of} is ${value ?? "missing"}: ${remedy}`;
}

/** Labels or annotations. */
export type Texts = Readonly<Record<string, string>>;

/** An object, as far as placement reads it. */
export interface LabeledObject {
  readonly labels: Texts;
  readonly annotations: Texts;
}

/** Who may have a word in it. */
export interface SpecSources {
  readonly workload: LabeledObject;
  /** Absent where it is not known: it has no words then. */
  readonly namespace?: LabeledObject | undefined;
}

/** What they say. */
export type EnabledState = "on" | "off" | "namespace-off";

const REMEDY = 'must be "true" or "false"';

/** The text under the key; `constructor` and the like are there only where somebody has set them. */
export function textAt(texts: Texts, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined;
}

/**
 * The word that counts: a namespace's label `"false"` takes out all that it has; otherwise the workload's
 * own, of whose label and annotation the one that says `"false"`; otherwise the namespace's `"true"`.
 * Without a word it is off. The namespace's misspelt label is a fault of those workloads alone that have
 * words of placement themselves.
 */
export function enabledState(
  { workload, namespace }: SpecSources,
): EnabledState | readonly PlacementFault[] {
  const around = textAt(namespace?.labels ?? {}, ENABLED);
  if (around === "false") return "namespace-off";
  const own = [
    { place: "label", text: textAt(workload.labels, ENABLED) },
    { place: "annotation", text: textAt(workload.annotations, ENABLED) },
  ] as const;
  if (own.some(({ text }) => text === "false")) return "off";
  const faults = own.flatMap(({ place, text }) => faultOf({ of: "workload", place, text }));
  if (isWorded(workload)) {
    faults.push(...faultOf({ of: "namespace", place: "label", text: around }));
  }
  if (faults.length > 0) return faults;
  return around === "true" || own.some(({ text }) => text === "true") ? "on" : "off";
}

function faultOf(
  { text, ...where }: Pick<PlacementFault, "of" | "place"> & { readonly text: string | undefined },
): PlacementFault[] {
  if (text === undefined || text === "true" || text === "false") return [];
  return [{ ...where, key: ENABLED, value: quotedText(text), remedy: REMEDY }];
}

function isWorded({ labels, annotations }: LabeledObject): boolean {
  return [labels, annotations].some((texts) =>
    Object.keys(texts).some((key) => key.startsWith(PLACEMENT_PREFIX))
  );
}

/** A window, none at all, or what is wrong with it. */
export interface WindowReading {
  readonly window?: DisruptionWindow;
  readonly faults: readonly PlacementFault[];
}

const SCHEDULE = "must be five fields of cron that name a time, for instance 0 2 * * * (UTC) or " +
  "CRON_TZ=Europe/Berlin 0 2 * * 1-5";
const DURATION = "must be more than 0 with a unit, for instance 2h or 90m";

/**
 * The window of the workload, or that of its namespace, or the configuration's: the first that has a word
 * of it. Schedule and duration come from the same of them, so one without the other is a fault.
 */
export function readWindow(
  { workload, namespace }: SpecSources,
  configured?: DisruptionWindow,
): WindowReading {
  return windowOf(workload.annotations, "workload") ??
    windowOf(namespace?.annotations ?? {}, "namespace") ??
    { ...(configured === undefined ? {} : { window: configured }), faults: [] };
}

function windowOf(
  annotations: Texts,
  of: PlacementFault["of"],
): WindowReading | undefined {
  const schedule = textAt(annotations, DISRUPTION_SCHEDULE);
  const duration = textAt(annotations, DISRUPTION_DURATION);
  if (schedule === undefined && duration === undefined) return undefined;
  const faults: PlacementFault[] = [];
  const read = <T>(
    text: string | undefined,
    parse: (text: string) => T,
    { key, remedy }: Pick<PlacementFault, "key" | "remedy">,
  ): T | undefined => {
    try {
      if (text !== undefined) return parse(text);
      faults.push({ of, place: "annotation", key, remedy });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      faults.push({ of, place: "annotation", key, value: quotedText(text ?? ""), remedy });
    }
    return undefined;
  };
  read(schedule, parseCronSchedule, { key: DISRUPTION_SCHEDULE, remedy: SCHEDULE });
  const durationMs = read(duration, parseWindowDuration, {
    key: DISRUPTION_DURATION,
    remedy: DURATION,
  });
  return faults.length > 0 || schedule === undefined || durationMs === undefined
    ? { faults }
    : { window: { schedule, durationMs }, faults };
}
