/**
 * What annotations ask for, on the pod or its namespace.
 *
 * @module
 */
import { ALLOW_OVERRIDES } from "../../shared/actuation/scope.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { countableCPU } from "../../shared/quantity.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import { parseStartupBoost, STARTUP_BOOST, type StartupBoost } from "./bid_rules/startup_boost.ts";
import { clampMultiplier } from "./priority_multiplier.ts";

/** Annotation of a pod: the ceiling of the whole pod. */
export const MAX_CPU = "mbcas.io/max-cpu";
/** Annotation of a pod: factor on its weight. */
export const PRIORITY_MULTIPLIER = "mbcas.io/priority-multiplier";
/** Label or annotation of a namespace: factor on own limits. */
export const BURST_FACTOR = "mbcas.io/burst-factor";

/** What annotations are read from, and what they are measured by. */
export interface OverrideInput {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  /** The pod's own limit, Σ of the containers that have one, millicores. */
  readonly ownLimit: number;
  /** Where the namespace says nothing. */
  readonly burstFactor: number;
}

/** What annotations set; absent where they say nothing, or nothing that may count. */
export interface Overrides {
  /** Ceiling of the whole pod, millicores. */
  readonly maxCPU?: number;
  readonly priorityMultiplier?: number;
  readonly startupBoost?: StartupBoost;
  /** At least 1. */
  readonly burstFactor: number;
  /** Annotations that can't be read or may not count, for an event. */
  readonly warnings: readonly string[];
}

/** Reads the annotations. Those that ask for more count only where an administrator allows it. */
export function overridesOf(input: OverrideInput): Overrides {
  const { annotations } = input.pod.metadata;
  const { labels = {}, annotations: ofNamespace = {} } = input.namespace?.metadata ?? {};
  const allowed = labels[ALLOW_OVERRIDES] === "true";
  const warnings: string[] = [];
  const factor = readNumber(labels, BURST_FACTOR, warnings) ??
    readNumber(ofNamespace, BURST_FACTOR, warnings) ?? input.burstFactor;
  const burstFactor = Math.max(1, factor);

  function mayCount(asksForMore: boolean, key: string): boolean {
    if (!asksForMore || allowed) return true;
    const text = quotedText(annotations[key] ?? "");
    warnings.push(
      `${key}: ${text} asks for more, which needs ${ALLOW_OVERRIDES}=true on the namespace`,
    );
    return false;
  }

  const multiplier = readNumber(annotations, PRIORITY_MULTIPLIER, warnings);
  const maxCPU = readCPU(annotations, MAX_CPU, warnings);
  const startupBoost = readBoost(annotations, warnings);
  return {
    burstFactor,
    ...(multiplier !== undefined && mayCount(multiplier > 1, PRIORITY_MULTIPLIER)
      ? { priorityMultiplier: clampMultiplier(multiplier) }
      : {}),
    ...(maxCPU !== undefined && mayCount(maxCPU > input.ownLimit * burstFactor, MAX_CPU)
      ? { maxCPU }
      : {}),
    ...(startupBoost !== undefined && mayCount(true, STARTUP_BOOST) ? { startupBoost } : {}),
    warnings,
  };
}

type Texts = Readonly<Record<string, string>>;

function readNumber(from: Texts, key: string, warnings: string[]): number | undefined {
  const text = from[key];
  if (text === undefined) return undefined;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (value > 0 && value < Infinity) return value;
  warnings.push(`${key}: ${quotedText(text)} is not a number above 0`);
  return undefined;
}

function readBoost(from: Texts, warnings: string[]): StartupBoost | undefined {
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

function readCPU(from: Texts, key: string, warnings: string[]): number | undefined {
  const text = from[key];
  if (text === undefined) return undefined;
  const millicores = countableCPU(text);
  if (millicores === undefined) {
    warnings.push(`${key}: ${quotedText(text)} is not a CPU quantity`);
  }
  return millicores;
}
