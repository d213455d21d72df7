/**
 * What placement remembers of a workload, as text: one ConfigMap per namespace has an entry per workload.
 *
 * @module
 */
import * as z from "zod";
import type { PlacedKind } from "./eligibility.ts";
import type { IneffectiveMoves } from "./move_cooldown.ts";
import type { Shortage } from "./shortage.ts";

/** The memory of a workload; times are ms since 1970. */
export interface PlacementMemory {
  /** When a replica was last moved. */
  readonly lastMoveAtMs?: number;
  readonly shortage?: Shortage;
  /** The effect of the last move. */
  readonly ineffectiveMoves?: IneffectiveMoves;
}

/** An entry of another version is ignored, which costs one cooldown. */
const VERSION = 1;

/** How far clocks of leaders may differ; later times come from a wrong clock, ms. */
const CLOCKS_DIFFER_MS = 60_000;
/** No fallback lasts longer, ms. */
const LONGEST_FALLBACK_MS = 86_400_000;

/** Earlier versions lack some fields, and ignore fields that they don't know. */
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
  vainMoves: z.object({
    count: z.int().min(0),
    misplaced: z.int().min(0),
    wish: z.object({ spotPercentage: z.int(), minOnDemand: z.int() }),
  }).transform(({ wish, ...moves }): IneffectiveMoves => ({ ...moves, spec: wish })).optional(),
});

/** The prefix of the ConfigMaps' names. */
export const MEMORY_CONFIG_MAP_PREFIX = "mbcas-placement-";

/** The name of the namespace's ConfigMap. */
export function memoryConfigMap(namespace: string): string {
  return `${MEMORY_CONFIG_MAP_PREFIX}${namespace}`;
}

/** The key of a workload's entry: at most 253 characters, as a Deployment's name leaves room for a hash. */
export function memoryKey(kind: PlacedKind, name: string): string {
  return `${kind}.${name}`;
}

/** The entry; undefined if there is nothing to remember. */
export function memoryText(memory: PlacementMemory, uid: string): string | undefined {
  if (Object.values(memory).every((one) => one === undefined)) return undefined;
  const { ineffectiveMoves, ...others } = memory;
  const { spec: wish, ...moves } = ineffectiveMoves ?? {};
  const vainMoves = ineffectiveMoves && { ...moves, wish };
  return JSON.stringify({ version: VERSION, uid, ...others, vainMoves });
}

/**
 * The memory in the entry; empty if it can't be read, or has another UID: a new workload of the same name
 * has met nothing yet.
 */
export function readMemory(
  text: string | undefined,
  { uid, nowMs }: { readonly uid: string; readonly nowMs: number },
): PlacementMemory {
  const { data } = storedSchema.safeParse(parsed(text ?? ""));
  if (data === undefined || data.uid !== uid) return {};
  const { lastMoveAtMs, vainMoves } = data;
  const shortage = shortageAt(nowMs, data.shortage);
  return {
    ...(lastMoveAtMs === undefined || lastMoveAtMs > nowMs + CLOCKS_DIFFER_MS
      ? {}
      : { lastMoveAtMs }),
    ...(shortage === undefined ? {} : { shortage }),
    ...(vainMoves === undefined ? {} : { ineffectiveMoves: vainMoves }),
  };
}

/**
 * Drops times that are impossible by this clock, as fallbacks would last too long. Cutting them to the
 * longest possible would begin anew at each reconcile.
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
