/**
 * Makes the memory of corrections outlive the process, whichever source of usage there is.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import { createBackoff } from "../../../shared/control/backoff.ts";
import type { Log } from "../../../shared/log.ts";
import type { CheckpointStore } from "../sampler/ports.ts";
import { readCorrections, writeCorrections } from "./correction_checkpoints.ts";
import type { CorrectionMemory } from "./correction_memory.ts";

/** What the keeper works with. */
export interface CorrectionKeeperParts {
  readonly memory: CorrectionMemory;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two times that the memory is written. @default {180000} */
  readonly intervalMs?: number;
  /** For writing it at the end. @default {5000} */
  readonly finalMs?: number;
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

/** Of the ConfigMaps. */
const PREFIX = "mbcas-corrections-";
/** What was seen is read again after this at the latest, ms. */
const LONGEST_WAIT_MS = 60_000;

/** A keeper that has read and written nothing yet. */
// deno-lint-ignore house/function-length
export function createCorrectionKeeper(
  { memory, store, clock, log, intervalMs = 180_000, finalMs = 5000 }: CorrectionKeeperParts,
): CorrectionKeeper {
  /** What stands in each checkpoint, by its name. */
  const stored = new Map<string, string>();
  let fails = false;
  let leavesOut = false;

  async function list(signal: AbortSignal): ReturnType<CheckpointStore["list"]> {
    const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS });
    while (!signal.aborted) {
      try {
        return await store.list(signal);
      } catch (error) {
        if (signal.aborted) break;
        const mayNot = error instanceof ApiError && error.status === 403;
        log.warn("Kills and throttling that were seen earlier can't be read", {
          error: wordOf(error),
          becomes: mayNot ? "they are seen anew" : "read again",
        });
        if (mayNot) break;
        await clock.sleep(backoff.next("load", error), signal);
      }
    }
    return [];
  }

  async function save(signal: AbortSignal): Promise<void> {
    const written = [...writeCorrections(memory, { prefix: PREFIX }).values()];
    const wanted = new Set(written.map(({ checkpoint }) => checkpoint.name));
    const failures: string[] = [];
    const attempt = async (act: () => Promise<void>): Promise<void> => {
      if (signal.aborted) return;
      try {
        await act();
      } catch (error) {
        failures.push(wordOf(error));
      }
    };
    for (const { checkpoint } of written) {
      const text = JSON.stringify(checkpoint.data);
      if (stored.get(checkpoint.name) === text) continue;
      await attempt(async () => {
        await store.apply(checkpoint, signal);
        stored.set(checkpoint.name, text);
      });
    }
    for (const name of [...stored.keys()]) {
      if (wanted.has(name)) continue;
      await attempt(async () => {
        await store.remove(name, signal);
        stored.delete(name);
      });
    }
    const [error] = failures;
    if (error !== undefined && !fails) {
      const namespaces = failures.length;
      log.warn("Kills and throttling that were seen can't be written", { namespaces, error });
    }
    fails = error !== undefined;
    const leftOut = written.reduce((sum, one) => sum + one.leftOut, 0);
    if (leftOut > 0 && !leavesOut) {
      log.warn("Kills and throttling of some workloads will be forgotten at the end: too many", {
        workloads: leftOut,
      });
    }
    leavesOut = leftOut > 0;
  }

  return {
    async load(signal) {
      for (const checkpoint of await list(signal)) {
        const read = readCorrections(checkpoint, { nowMs: clock.wall() });
        const { name, data } = checkpoint;
        if ("fault" in read) {
          log.warn("A checkpoint of kills and throttling can't be read: they are seen anew", {
            name,
            fault: read.fault,
          });
          continue;
        }
        for (const [workload, kills] of read.kills) memory.oom.restore(workload, kills);
        for (const [workload, looks] of read.looks) memory.throttle.restore(workload, looks);
        stored.set(name, JSON.stringify(data));
      }
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(intervalMs, signal);
        if (!signal.aborted) await save(signal);
      }
    },
    async end() {
      const [over, done] = [new AbortController(), new AbortController()];
      const late = clock.sleep(finalMs, done.signal).then(() => over.abort());
      await save(over.signal);
      done.abort();
      await late;
    },
  };
}

function wordOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
