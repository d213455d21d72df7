/**
 * What annotations ask for, on the pod or its namespace.
 *
 * @module
 */
import type { Texts } from "../../../shared/api/object.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { countableCPU, sumCPU } from "../../../shared/quantity.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import {
  ALLOW_OVERRIDES,
  BURST_FACTOR,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
  STARTUP_BOOST,
} from "../../../shared/api/market_keys.ts";
import { parseStartupBoost, type StartupBoost } from "../bid_rules/startup_boost.ts";
import { type AnnotationWarning, namespaceSubject, warningOf } from "./annotation_warning.ts";
import type { SharedSubject } from "../ports.ts";
import { clampMultiplier } from "./priority_multiplier.ts";

/** What annotations are read from, and what they are measured by. */
export interface OverrideInput {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  /** The original limits of the pod's containers that have one, millicores. */
  readonly originalLimits: readonly number[];
  /** Where the namespace sets none. */
  readonly burstFactor: number;
  /** The least ceiling of a container there, millicores. @default {0} */
  readonly leastCeiling?: number | undefined;
}

/** What annotations set; absent where they say nothing, or nothing that may count. */
export interface Overrides {
  /** Ceiling of the whole pod, millicores. */
  readonly maxCPU?: number;
  readonly priorityMultiplier?: number;
  readonly startupBoost?: StartupBoost;
  /** At least 1. */
  readonly burstFactor: number;
  /** What the burst factor allows each container, millicores, in the order of the limits. */
  readonly burstCeilings: readonly number[];
  /** Annotations that can't be read, may not count or count for another value, for an event. */
  readonly warnings: readonly AnnotationWarning[];
}

/** Reads the annotations. Those that ask for more count only where an administrator allows it. */
export function overridesOf(input: OverrideInput): Overrides {
  const { annotations, namespace: place } = input.pod.metadata;
  const { labels = {}, annotations: ofNamespace = {} } = input.namespace?.metadata ?? {};
  const allowed = labels[ALLOW_OVERRIDES] === "true";
  const warnings: AnnotationWarning[] = [];
  const about = input.namespace === undefined ? undefined : namespaceSubject(input.namespace);
  const theirs = { warnings, on: `namespace ${place}: `, about };
  const ofTheirs = readNumber(labels, BURST_FACTOR, theirs) ??
    readNumber(ofNamespace, BURST_FACTOR, theirs);
  const burstFactor = Math.max(1, ofTheirs ?? input.burstFactor);
  const least = ofTheirs === undefined && burstFactor > 1 ? input.leastCeiling ?? 0 : 0;
  const burstCeilings = input.originalLimits.map((own) => Math.max(times(own, burstFactor), least));

  /** The messages name the largest value that needs no administrator. */
  function mayCount(key: string, { most, instead = "" }: AskingForMore): boolean {
    if (allowed) return true;
    const text = quotedText(annotations[key] ?? "");
    const label = `label namespace ${place} ${ALLOW_OVERRIDES}=true`;
    warnings.push(`${key}: ${text} asks for more${most}: ${label}${instead}`);
    return false;
  }

  const multiplier = readNumber(annotations, PRIORITY_MULTIPLIER, { warnings });
  const maxCPU = readCPU(annotations, MAX_CPU, warnings);
  const startupBoost = readBoost(annotations, warnings);
  const most = sumCPU(burstCeilings);
  const multiplies = multiplier !== undefined &&
    (multiplier <= 1 ||
      mayCount(PRIORITY_MULTIPLIER, { most: " than 1", instead: ", or ask for at most 1" }));
  const bounds = maxCPU !== undefined && (maxCPU <= most || mayCount(MAX_CPU, {
    most: ` than original limit × burst factor, ${most}m`,
    instead: `, or ask for at most ${most}m`,
  }));
  const boosts = startupBoost !== undefined && mayCount(STARTUP_BOOST, { most: "" });
  return {
    ...{ burstFactor, burstCeilings },
    ...(multiplies ? { priorityMultiplier: clamped(multiplier, { annotations, warnings }) } : {}),
    ...(bounds ? { maxCPU } : {}),
    ...(boosts ? { startupBoost } : {}),
    warnings,
  };
}

/** Millicores, floored, as a number that JSON can hold. */
export function times(millicores: number, factor: number): number {
  return Math.min(Math.floor(millicores * factor), Number.MAX_SAFE_INTEGER);
}

/** The warning about an annotation that needs an administrator's permission. */
interface AskingForMore {
  /** Than what it asks for more. */
  readonly most: string;
  /** What else would count. @default {""} */
  readonly instead?: string;
}

/** The multiplier as it counts, and a warning where that is another than was asked for. */
function clamped(
  multiplier: number,
  { annotations, warnings }: {
    readonly annotations: Texts;
    readonly warnings: AnnotationWarning[];
  },
): number {
  const counts = clampMultiplier(multiplier);
  if (counts !== multiplier) {
    const text = quotedText(annotations[PRIORITY_MULTIPLIER] ?? "");
    const end = counts < multiplier ? "most" : "least";
    warnings.push(`${PRIORITY_MULTIPLIER}: ${text} counts as ${counts}, the ${end}`);
  }
  return counts;
}

function readNumber(
  from: Texts,
  key: string,
  { warnings, on = "", about }: {
    readonly warnings: AnnotationWarning[];
    /** The object that it belongs to, where that is not the pod. @default {""} */
    readonly on?: string;
    /** The same for events. */
    readonly about?: SharedSubject | undefined;
  },
): number | undefined {
  const text = from[key];
  if (text === undefined) return undefined;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (value > 0 && value < Infinity) return value;
  const message = `${on}${key}: ${quotedText(text)} is not a number above 0, for instance "2.5"`;
  warnings.push(warningOf(about)(message));
  return undefined;
}

function readBoost(from: Texts, warnings: AnnotationWarning[]): StartupBoost | undefined {
  const text = from[STARTUP_BOOST];
  if (text === undefined) return undefined;
  const boost = parseStartupBoost(text);
  if (boost !== undefined) return boost;
  warnings.push(
    `${STARTUP_BOOST}: ${
      quotedText(text)
    } is not a factor above 1 and up to 10 with a time of up ` +
      'to 10m, for instance "2x,30s"',
  );
  return undefined;
}

function readCPU(from: Texts, key: string, warnings: AnnotationWarning[]): number | undefined {
  const text = from[key];
  if (text === undefined) return undefined;
  const millicores = countableCPU(text);
  if (millicores === undefined) {
    warnings.push(`${key}: ${quotedText(text)} is not a CPU quantity, for instance "500m" or "2"`);
  }
  return millicores;
}
