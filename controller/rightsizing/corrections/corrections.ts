/**
 * What corrects samples, and no source of usage has: OOM kills, and how much CPU the market saw wanted.
 * It outlives the process.
 *
 * @module
 */
import * as z from "zod";
import type { Clock } from "../../../shared/clock.ts";
import { type CheckpointStore, createPersistedMap } from "../../../shared/control/persisted_map.ts";
import type { Log } from "../../../shared/log.ts";
import { createOOMMemory, type OOMMemory, type SeenKill } from "./oom_memory.ts";
import { createThrottleMemory, type Look, type ThrottleMemory } from "./throttle_memory.ts";

/** Both memories; workloads go by their key. */
export interface CorrectionMemory {
  readonly oom: OOMMemory;
  readonly throttle: ThrottleMemory;
}

/** Nothing has been seen. */
export function createCorrectionMemory(): CorrectionMemory {
  return { oom: createOOMMemory(), throttle: createThrottleMemory() };
}

/** What the keeper works with. */
export interface CorrectionKeeperParts {
  readonly memory: CorrectionMemory;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** The keeper. */
export interface CorrectionKeeper {
  /**
   * Fills the memory with what an earlier process has seen, or waits until that can be read; where the
   * account may not read it, it stays as it is.
   */
  load(signal: AbortSignal): Promise<void>;
  /** Writes what has changed, again and again until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Writes what has changed, for the last time. */
  end(): Promise<void>;
}

/** What is kept of a workload. */
interface Corrections {
  readonly kills: readonly SeenKill[];
  readonly looks: readonly Look[];
}

/** Between two times that the memory is written, ms. */
const INTERVAL_MS = 180_000;
/** Of a workload, the latest: 15 kB of JSON. A pod that was killed again shows its last kill alone. */
const MOST_KILLS = 200;

const name = z.string().min(1).max(253);
const amount = z.number().min(0);
const storedSchema = z.object({
  kills: z.array(z.object({
    ...{ pod: name, container: name, atMs: amount, hadBytes: amount },
    unlimited: z.literal(true).exactOptional(),
  })),
  // Seconds since the look before, the first since 1970, and millicores by container.
  looks: z.array(z.tuple([amount, z.record(name, amount)])),
});

/** Creates the keeper; it has read and written nothing yet. */
export function createCorrectionKeeper(
  { memory, store, clock, log }: CorrectionKeeperParts,
): CorrectionKeeper {
  const kept = createPersistedMap<Corrections>({
    ...{ store, clock, log },
    prefix: "mbcas-corrections-",
    holds: "kills and throttling",
    encode: storedCorrections,
    decode: (stored) => readCorrections(stored, clock.wall()),
  });

  function collect(): void {
    const [kills, looks] = [memory.oom.contents(), memory.throttle.contents()];
    for (const key of new Set([...kills.keys(), ...looks.keys()])) {
      kept.set(key, { kills: kills.get(key) ?? [], looks: looks.get(key) ?? [] });
    }
    for (const [key] of kept.entries()) if (!kills.has(key) && !looks.has(key)) kept.delete(key);
  }

  return {
    async load(signal) {
      if (!await kept.load(signal, { emptyIfForbidden: true })) return;
      for (const [workload, { kills, looks }] of kept.entries()) {
        memory.oom.restore(workload, kills);
        if (looks.length > 0) memory.throttle.restore(workload, looks);
      }
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(INTERVAL_MS, signal);
        if (signal.aborted) return;
        collect();
        await kept.saveOrLog(signal);
      }
    },
    async end() {
      collect();
      await kept.saveAtEnd();
    },
  };
}

function storedCorrections({ kills, looks }: Corrections): z.input<typeof storedSchema> {
  let before = 0;
  return {
    kills: kills.toSorted((a, b) => b.atMs - a.atMs).slice(0, MOST_KILLS),
    looks: looks.map(({ atMs, wanted }) => {
      // A clock that was set back must not make a negative number.
      const seconds = Math.max(before, Math.floor(atMs / 1000));
      const since = seconds - before;
      before = seconds;
      return [since, Object.fromEntries([...wanted].map(([name, cpu]) => [name, Math.round(cpu)]))];
    }),
  };
}

/** A clock that was ahead must not keep looks for longer than the others. */
function readCorrections(stored: unknown, nowMs: number): Corrections {
  const { success, data, error } = storedSchema.safeParse(stored);
  if (!success) throw new SyntaxError(`Cannot read corrections: ${z.prettifyError(error)}`);
  let seconds = 0;
  const looks = data.looks.map(([since, wanted]) => {
    seconds += since;
    return { atMs: Math.min(seconds * 1000, nowMs), wanted: new Map(Object.entries(wanted)) };
  });
  return { kills: data.kills, looks };
}
