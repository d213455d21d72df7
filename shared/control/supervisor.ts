/**
 * The owner of a program's loops: the first failure of one stops all others and is thrown.
 *
 * @module
 */
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { untilAborted, within } from "./time_limit.ts";

/** Parts and settings of a supervisor. */
export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long the loops may take to end after a stop or a failure, ms. @default {10000} */
  readonly graceMs?: number;
}

/** Owns the loops of a program. */
export interface Supervisor {
  /** Aborted by `stop()` and by the first failure: every loop ends when it is. */
  readonly signal: AbortSignal;
  /** Takes over a running loop. `name` appears in the log and in the error. */
  supervise(name: string, loop: Promise<unknown>): void;
  /** Asks all loops to end. */
  stop(): void;
  /**
   * Resolves when all loops have ended. Throws an `Error` that names the first loop that failed
   * (its error is the `cause`), or those that still run when the grace is over.
   */
  done(): Promise<void>;
}

interface Loop {
  readonly name: string;
  readonly ended: Promise<void>;
}

/** A supervisor without loops. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { clock, log, graceMs = 10_000 } = options;
  const abort = new AbortController();
  const loops = new Set<Loop>();
  let failure: Error | undefined;

  const fail = (name: string, cause: unknown): void => {
    log.error("A loop failed", { loop: name, error: String(cause) });
    failure ??= new Error(`Cannot go on: the loop "${name}" failed: ${String(cause)}`, { cause });
    abort.abort();
  };

  async function allEnded(): Promise<void> {
    while (loops.size > 0) await Promise.all([...loops].map((loop) => loop.ended));
  }

  return {
    signal: abort.signal,
    supervise(name, loop) {
      const entry: Loop = {
        name,
        ended: loop.then(() => {}, (error: unknown) => fail(name, error))
          .finally(() => loops.delete(entry)),
      };
      loops.add(entry);
    },
    stop() {
      abort.abort();
    },
    async done() {
      const ended = allEnded();
      await Promise.race([ended, untilAborted(abort.signal)]);
      await within(() => ended, { clock, ms: graceMs, onTimeout: () => {} });
      if (failure !== undefined) throw failure;
      if (loops.size > 0) {
        const names = [...loops].map((loop) => loop.name).join(", ");
        throw new Error(`Cannot stop: still running after ${graceMs} ms: ${names}`);
      }
    },
  };
}
