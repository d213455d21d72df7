/**
 * Overrides by annotations of the pod or its namespace.
 *
 * @module
 */
import type { Texts } from "../../../shared/api/object.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { type Kind, kindMeta, kindOf, valueOf } from "../../../shared/config/kinds.ts";
import { parseDuration } from "../../../shared/duration.ts";
import { countableCPU, sumCPU } from "../../../shared/quantity.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import {
  ALLOW_OVERRIDES,
  BURST_FACTOR,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
  STARTUP_BOOST,
} from "../../../shared/api/market_keys.ts";
import type { MarketConfig } from "../../config.ts";
import { type AnnotationWarning, eventSubject } from "../ports.ts";
import type { StartupBoost } from "./bid_rules.ts";
import { clampMultiplier } from "./priority_multiplier.ts";

/** The objects with annotations, and the limits that `max-cpu` is compared with. */
export interface OverrideInput {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  /** The original limits of the pod's containers that have one, millicores. */
  readonly originalLimits: readonly number[];
  readonly config: Pick<MarketConfig, "burstFactor" | "leastCeiling">;
}

/** The values that annotations set; absent where none is set, or allowed. */
export interface Overrides {
  /** Ceiling of the whole pod, millicores. */
  readonly maxCPU?: number;
  readonly priorityMultiplier?: number;
  readonly startupBoost?: StartupBoost;
  readonly burstFactor: number;
  /** Ceilings of the containers by the burst factor, millicores, in the order of the limits. */
  readonly burstCeilings: readonly number[];
  /** Annotations that can't be read, may not count or count for another value, for an event. */
  readonly warnings: readonly AnnotationWarning[];
}

/** Reads the annotations. Those that ask for more count only where an administrator allows it. */
export function overridesOf(
  { pod, namespace, originalLimits, config }: OverrideInput,
): Overrides {
  const { annotations, namespace: place } = pod.metadata;
  const { labels = {}, annotations: ofNamespace = {} } = namespace?.metadata ?? {};
  const warnings: AnnotationWarning[] = [];

  function read<T>(texts: Texts, key: string, kind: Kind<T>): T | undefined {
    const text = texts[key];
    const value = text === undefined ? undefined : valueOf(kind, text);
    if (text !== undefined && value === undefined) {
      const message = `${key}: ${quotedText(text)} is not ${kindMeta(kind).expects}`;
      warnings.push(
        texts === annotations || namespace === undefined ? { message } : {
          message: `namespace ${place}: ${message}`,
          about: eventSubject("Namespace", namespace),
        },
      );
    }
    return value;
  }

  /** Whether an administrator allows the annotation; otherwise warns, with what would count instead. */
  function isAllowed(key: string, largest = "", instead = ""): boolean {
    if (labels[ALLOW_OVERRIDES] === "true") return true;
    const text = quotedText(annotations[key] ?? "");
    const label = `label namespace ${place} ${ALLOW_OVERRIDES}=true`;
    warnings.push({ message: `${key}: ${text} asks for more${largest}: ${label}${instead}` });
    return false;
  }

  const namespaceFactor = read(labels, BURST_FACTOR, FACTOR) ??
    read(ofNamespace, BURST_FACTOR, FACTOR);
  const burstFactor = Math.max(1, namespaceFactor ?? config.burstFactor);
  const least = namespaceFactor === undefined && burstFactor > 1 ? config.leastCeiling : 0;
  const burstCeilings = originalLimits.map((limit) =>
    Math.max(scaledCPU(limit, burstFactor), least)
  );
  const multiplier = read(annotations, PRIORITY_MULTIPLIER, FACTOR);
  const maxCPU = read(annotations, MAX_CPU, CPU);
  const startupBoost = read(annotations, STARTUP_BOOST, BOOST);
  const most = sumCPU(burstCeilings);
  const multiplies = multiplier !== undefined &&
    (multiplier <= 1 || isAllowed(PRIORITY_MULTIPLIER, " than 1", ", or ask for at most 1"));
  const largest = ` than original limit × burst factor, ${most}m`;
  const bounds = maxCPU !== undefined &&
    (maxCPU <= most || isAllowed(MAX_CPU, largest, `, or ask for at most ${most}m`));
  const boosts = startupBoost !== undefined && isAllowed(STARTUP_BOOST);
  const counts = clampMultiplier(multiplier ?? 1);
  if (multiplies && counts !== multiplier) {
    const text = quotedText(annotations[PRIORITY_MULTIPLIER] ?? "");
    const end = counts < multiplier ? "most" : "least";
    warnings.push({ message: `${PRIORITY_MULTIPLIER}: ${text} counts as ${counts}, the ${end}` });
  }
  return {
    ...{ burstFactor, burstCeilings, warnings },
    ...(multiplies ? { priorityMultiplier: counts } : {}),
    ...(bounds ? { maxCPU } : {}),
    ...(boosts ? { startupBoost } : {}),
  };
}

/** Millicores × factor, rounded down, at most what JSON holds exactly. */
export function scaledCPU(millicores: number, factor: number): number {
  return Math.min(Math.floor(millicores * factor), Number.MAX_SAFE_INTEGER);
}

const CPU = kindOf('a CPU quantity, for instance "500m" or "2"', countableCPU);

const FACTOR = kindOf('a number above 0, for instance "2.5"', (text) => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  return value > 0 && value < Infinity ? value : undefined;
});

const LARGEST_BOOST = 10;
const LONGEST_HOLD_MS = 600_000;

/** `2x` alone ends when the pod is Ready. */
const BOOST = kindOf(
  'a factor above 1 and up to 10 with a time of up to 10m, for instance "2x,30s"',
  (text): StartupBoost | undefined => {
    const [, number, , hold] = /^\s*(\d+(?:\.\d+)?)x\s*(,\s*(\S+)\s*)?$/.exec(text) ?? [];
    const factor = Number(number);
    const holdMs = hold === undefined ? 0 : parseDuration(hold);
    if (number === undefined || holdMs === undefined) return undefined;
    return factor > 1 && factor <= LARGEST_BOOST && holdMs <= LONGEST_HOLD_MS
      ? { factor, holdMs }
      : undefined;
  },
);
