/**
 * The memory of workloads that outlives the process: their moves and shortages.
 *
 * @module
 */
import * as z from "zod";
import {
  createPersistedMap,
  type PersistedMapOptions,
} from "../../shared/control/persisted_map.ts";
import { cooldownAfter, type IneffectiveMoves } from "../../shared/placement/move_cooldown.ts";
import type { Shortage } from "../../shared/placement/shortage.ts";

/** The memory of a workload; times are ms since 1970. */
export interface PlacementMemory {
  /** When a replica was last moved. */
  readonly lastMoveAtMs?: number;
  readonly shortage?: Shortage;
  /** The effect of the last move. */
  readonly ineffectiveMoves?: IneffectiveMoves;
}

/** The memory of all workloads by UID: a new workload of the same name has none. */
export interface PlacementState {
  /**
   * Reads the memory of earlier processes, and retries until it can be read. Without the right to read it
   * the memory stays empty. Resolves with false if `signal` was aborted first.
   */
  load(signal: AbortSignal): Promise<boolean>;
  /** The memory of the workload at a time, ms since 1970. */
  memoryOf(uid: string, nowMs: number): PlacementMemory;
  /** Sets the memory of the workload; `save` makes it outlive the process. */
  remember(uid: string, memory: PlacementMemory): void;
  /** Resolves when all that is set is written. Throws an `ApiError`. */
  save(signal: AbortSignal): Promise<void>;
  /**
   * Deletes workloads that do not exist any more, and moves with a cooldown that is over, and writes all changes.
   * Failed writes are logged, and retried the next time.
   */
  retain(
    uids: ReadonlySet<string>,
    options: { readonly cooldownMs: number; readonly signal: AbortSignal },
  ): Promise<void>;
}

/** How far clocks of leaders may differ, ms; later times come from a wrong clock. */
const CLOCKS_DIFFER_MS = 60_000;
/** No fallback lasts longer, ms. */
const LONGEST_FALLBACK_MS = 86_400_000;

const storedSchema: z.ZodType<PlacementMemory> = z.object({
  lastMoveAtMs: z.number().exactOptional(),
  shortage: z.object({
    sinceMs: z.number().exactOptional(),
    untilMs: z.number(),
    rounds: z.int().min(1),
    remade: z.object({ atMs: z.number(), count: z.int().min(1) }).exactOptional(),
  }).exactOptional(),
  ineffectiveMoves: z.object({
    count: z.int().min(0),
    misplaced: z.int().min(0),
    spec: z.object({ spotPercentage: z.int(), minOnDemand: z.int() }),
  }).exactOptional(),
});

/** An empty state. */
export function createPlacementState(
  parts: Pick<PersistedMapOptions<PlacementMemory>, "store" | "clock" | "log">,
): PlacementState {
  const memories = createPersistedMap<PlacementMemory>({
    ...parts,
    prefix: "mbcas-moves-",
    holds: "moves and shortages",
    encode: (memory) => memory,
    decode: decodeMemory,
  });
  function remember(uid: string, memory: PlacementMemory): void {
    if (Object.values(memory).some((one) => one !== undefined)) memories.set(uid, memory);
    else memories.delete(uid);
  }

  return {
    load: (signal) => memories.load(signal, { emptyIfForbidden: true }),
    memoryOf: (uid, nowMs) => memoryAt(memories.get(uid) ?? {}, nowMs),
    remember,
    save: memories.save,
    async retain(uids, { cooldownMs, signal }) {
      const endedMs = parts.clock.wall() - cooldownAfter(Infinity, cooldownMs);
      for (const [uid, { lastMoveAtMs = Infinity, ...others }] of [...memories.entries()]) {
        if (!uids.has(uid)) memories.delete(uid);
        else if (lastMoveAtMs < endedMs) remember(uid, others);
      }
      await memories.saveOrLog(signal);
    },
  };
}

/** The stored memory. Throws a `SyntaxError` if it can't be read. */
export function decodeMemory(stored: unknown): PlacementMemory {
  const { data, error } = storedSchema.safeParse(stored);
  if (data === undefined) throw new SyntaxError(`Cannot read memory: ${z.prettifyError(error)}`);
  return data;
}

/**
 * The memory without times that are impossible by this clock: such fallbacks would last too long. Shortening them
 * instead would begin them again at each reconcile.
 */
export function memoryAt(
  { lastMoveAtMs, shortage, ...others }: PlacementMemory,
  nowMs: number,
): PlacementMemory {
  const latestMs = nowMs + CLOCKS_DIFFER_MS;
  return {
    ...others,
    ...(lastMoveAtMs === undefined || lastMoveAtMs > latestMs ? {} : { lastMoveAtMs }),
    ...(shortage === undefined || (shortage.sinceMs ?? 0) > latestMs ||
        shortage.untilMs > latestMs + LONGEST_FALLBACK_MS
      ? {}
      : { shortage: shortageAt(shortage, nowMs) }),
  };
}

function shortageAt({ sinceMs, remade, ...others }: Shortage, nowMs: number): Shortage {
  return {
    ...others,
    ...(sinceMs === undefined || sinceMs > nowMs ? {} : { sinceMs }),
    ...(remade === undefined || remade.atMs > nowMs ? {} : { remade }),
  };
}
