/**
 * What annotations ask for, on the pod or its namespace.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { clampMultiplier } from "./priority_multiplier.ts";

/** An administrator's label on a namespace: annotations there may ask for more. */
export const ALLOW_OVERRIDES = "mbcas.io/allow-overrides";
/** Annotation of a pod: its containers' ceiling. */
export const MAX_CPU = "mbcas.io/max-cpu";
/** Annotation of a pod: factor on its weight. */
export const PRIORITY_MULTIPLIER = "mbcas.io/priority-multiplier";
/** Label or annotation of a namespace: factor on own limits. */
export const BURST_FACTOR = "mbcas.io/burst-factor";

/** What annotations set; absent where they say nothing, or nothing that may count. */
export interface Overrides {
  /** Millicores. */
  readonly maxCPU?: number;
  readonly priorityMultiplier?: number;
  readonly burstFactor?: number;
  /** Annotations that can't be read or may not count, for an event. */
  readonly warnings: readonly string[];
}

/** Reads the annotations. Those that ask for more count only where an administrator allows it. */
export function overridesOf(pod: Pod, namespace: Namespace | undefined): Overrides {
  const allowed = namespace?.metadata.labels[ALLOW_OVERRIDES] === "true";
  const warnings: string[] = [];
  const multiplier = readNumber(pod.metadata.annotations, PRIORITY_MULTIPLIER, warnings);
  const factor = namespace === undefined
    ? undefined
    : readNumber(namespace.metadata.labels, BURST_FACTOR, warnings) ??
      readNumber(namespace.metadata.annotations, BURST_FACTOR, warnings);
  const maxCPU = readMaxCPU(pod, warnings);
  if (multiplier !== undefined && multiplier > 1 && !allowed) {
    warnings.push(
      `${PRIORITY_MULTIPLIER}: ${multiplier} needs ${ALLOW_OVERRIDES} on the namespace`,
    );
  }
  const counts = multiplier !== undefined && (multiplier <= 1 || allowed);
  return {
    ...(maxCPU === undefined ? {} : { maxCPU }),
    ...(counts ? { priorityMultiplier: clampMultiplier(multiplier) } : {}),
    ...(factor === undefined ? {} : { burstFactor: Math.max(1, factor) }),
    warnings,
  };
}

function readNumber(
  from: Readonly<Record<string, string>>,
  key: string,
  warnings: string[],
): number | undefined {
  const text = from[key];
  if (text === undefined) return undefined;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (value > 0 && Number.isFinite(value)) return value;
  warnings.push(`${key}: "${text}" is not a number above 0`);
  return undefined;
}

function readMaxCPU(pod: Pod, warnings: string[]): number | undefined {
  const text = pod.metadata.annotations[MAX_CPU];
  if (text === undefined) return undefined;
  try {
    return parseCPU(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    warnings.push(`${MAX_CPU}: "${text}" is not a CPU quantity`);
    return undefined;
  }
}
