/**
 * What placement remembers of a workload, as text that outlives a process: one ConfigMap per namespace
 * has an entry per workload.
 *
 * @module
 */
import * as z from "zod";
import type { Workload } from "../api/workload.ts";
import type { Shortage } from "./shortage.ts";
import type { IneffectiveMoves } from "./move_cooldown.ts";

/** What is remembered; times are ms since 1970. */
export interface PlacementMemory {
  /** When a replica was last moved. */
  readonly lastMoveAtMs?: number;
  readonly shortage?: Shortage;
  /** How much the last move has helped. */
  readonly ineffectiveMoves?: IneffectiveMoves;
}

/** Whose memory it is, and when it is read. */
export interface MemoryOptions {
  /** The UID of the workload: one that is made anew under the same name has met nothing yet. */
  readonly uid: string;
  readonly nowMs: number;
}

/** Of another version nothing is known: it begins anew, which costs one cooldown. */
const VERSION = 1;

/** Clocks of leaders may differ by so much; what is of a later time was written by one that was wrong, ms. */
const CLOCKS_DIFFER_MS = 60_000;
/** No fallback lasts longer, ms. */
const LONGEST_FALLBACK_MS = 86_400_000;

/** Programs of before a field leave it out, and pass over what they don't know. */
const storedSchema = z.object({
  version: z.literal(VERSION),
  uid: z.string(),
  lastMoveAtMs: z.number().optional(),
  shortage: z.object({
    sinceMs: z.number().exactOptional(),
    untilMs: z.number(),
    rounds: z.int().min(1),
    remade: z.object({ atMs: z.number(), count: z.int().min(1) }).exactOptional(),
  }).optional(),
  ineffectiveMoves: z.object({
    count: z.int().min(0),
    misplaced: z.int().min(0),
    spec: z.object({ spotPercentage: z.int(), minOnDemand: z.int() }),
  }).optional(),
});

/** What the names of the ConfigMaps begin with. */
export const MEMORY_CONFIG_MAP_PREFIX = "mbcas-placement-";

/** The name of the ConfigMap with what is remembered of the namespace's workloads. */
export function memoryConfigMap(namespace: string): string {
  return `${MEMORY_CONFIG_MAP_PREFIX}${namespace}`;
}

/** The key of a workload's entry: at most 253 characters, since a Deployment's name leaves room for a hash. */
export function memoryKey(kind: Workload["kind"], name: string): string {
  return `${kind}.${name}`;
}

/** The entry; undefined where there is nothing to remember, and it can go. */
export function memoryText(memory: PlacementMemory, uid: string): string | undefined {
  return Object.values(memory).every((one) => one === undefined)
    ? undefined
    : JSON.stringify({ version: VERSION, uid, ...memory });
}

/** What the entry says of the workload; nothing where it can't be read, or is of another one. */
export function readMemory(
  text: string | undefined,
  { uid, nowMs }: MemoryOptions,
): PlacementMemory {
  const { data } = storedSchema.safeParse(parsed(text ?? ""));
  if (data === undefined || data.uid !== uid) return {};
  const { lastMoveAtMs, ineffectiveMoves } = data;
  const shortage = shortageAt(nowMs, data.shortage);
  return {
    ...(lastMoveAtMs === undefined || lastMoveAtMs > nowMs + CLOCKS_DIFFER_MS
      ? {}
      : { lastMoveAtMs }),
    ...(shortage === undefined ? {} : { shortage }),
    ...(ineffectiveMoves === undefined ? {} : { ineffectiveMoves }),
  };
}

/**
 * What can't be true by this clock is not: it would last, or have pods made again, for too long. It is dropped
 * and not cut to the longest that can be, which would begin anew with each look.
 */
function shortageAt(nowMs: number, shortage: Shortage | undefined): Shortage | undefined {
  if (shortage === undefined) return undefined;
  const { sinceMs, untilMs, rounds, remade } = shortage;
  const latestMs = nowMs + CLOCKS_DIFFER_MS;
  if ((sinceMs ?? 0) > latestMs || untilMs > latestMs + LONGEST_FALLBACK_MS) return undefined;
  return {
    ...(sinceMs === undefined || sinceMs > nowMs ? {} : { sinceMs }),
    untilMs,
    rounds,
    ...(remade === undefined || remade.atMs > nowMs ? {} : { remade }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
