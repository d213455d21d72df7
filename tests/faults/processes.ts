/**
 * Starts, ends and restarts the processes of the simulated cluster.
 *
 * @module
 */
import { type Caches, namedCaches } from "../../controller/allocation/caches.ts";
import type { SimulatedAPI } from "../../simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../simulation/virtual_clock.ts";
import { PROCESSES, type ProcessName } from "./fault.ts";
import type { FaultSchedule } from "./fault_schedule.ts";
import { type Actor, createFaultyClient, type FaultyClient } from "./faulty_client.ts";
import { createProcess, type Process } from "./process.ts";
import type { ProgramPlace } from "./programs.ts";

/** What a process knows when it sends a request. */
export interface Knowledge {
  /** Copies of the controller that are known to be out of sync. */
  readonly unsynced: readonly string[];
}

/** A program that runs in a process. */
export interface Launched {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  readonly caches?: Caches;
}

/** A process that runs, or is about to start again. */
export interface RunningProcess {
  readonly process: Process;
  readonly client: FaultyClient;
}

/** The processes. */
export interface Processes {
  startAll(): void;
  get(name: ProcessName): RunningProcess | undefined;
  /** Ends the process; it starts again after `downMs`. */
  kill(name: ProcessName, downMs: number): void;
  /** The request that the server works on now; undefined: the hand of a user or of the cluster. */
  actor(): Actor | undefined;
  /** Ends of programs that no fault explains. */
  readonly failures: readonly string[];
}

/** A program that ended by itself starts again after this, ms. */
const RESTART_MS = 2000;

/** Processes that do not run yet; `launch` starts the program of one. */
export function createProcesses(
  { api, clock, schedule, seed }: {
    readonly api: SimulatedAPI;
    readonly clock: VirtualClock;
    readonly schedule: FaultSchedule;
    readonly seed: number;
  },
  launch: (name: ProcessName, place: ProgramPlace) => Launched,
): Processes {
  const running = new Map<ProcessName, RunningProcess>();
  const failures: string[] = [];
  let lives = 0;
  let actor: Actor | undefined;

  function act<R>(by: Actor, action: () => R): R {
    actor = by;
    try {
      return action();
    } finally {
      actor = undefined;
    }
  }

  function start(name: ProcessName): void {
    const process = createProcess(clock);
    const known: { caches?: Caches } = {};
    const knows = (): Knowledge => ({
      unsynced: known.caches === undefined
        ? []
        : namedCaches(known.caches).filter(([, { synced }]) => !synced).map(([kind]) => kind),
    });
    const crash = (downMs: number): void => kill(name, downMs);
    const parts = { name, process, access: api.access, clock, schedule, act, knows, crash };
    const client = createFaultyClient(parts);
    running.set(name, { process, client });
    const launched = launch(name, { process, client, seed: seed * 1009 + ++lives });
    if (launched.caches !== undefined) known.caches = launched.caches;
    launched.ended.then((code) => {
      if (!process.alive) return;
      // A controller that lost the leadership ends with 1 and begins anew.
      if (code !== 1) failures.push(`${name} ended with exit code ${code}`);
      kill(name, RESTART_MS);
    }, (error: unknown) => {
      if (!process.alive) return;
      failures.push(`${name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      kill(name, RESTART_MS);
    });
  }

  function kill(name: ProcessName, downMs: number): void {
    const { process } = running.get(name) ?? {};
    if (process?.alive !== true) return;
    process.kill();
    clock.at(clock.monotonic() + downMs, () => start(name));
  }

  return {
    startAll: () => PROCESSES.forEach(start),
    get: (name) => running.get(name),
    kill,
    actor: () => actor,
    failures,
  };
}
