/**
 * Starts, ends and restarts the processes of the simulated cluster.
 *
 * @module
 */
import { type Caches, namedCaches } from "../../../controller/caches.ts";
import { podKeyOf } from "../../../controller/allocation/pod_snapshot.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import type { SentRequest } from "../../../lab/simulation/api/request_gate.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { PROCESSES, type ProcessName } from "../fault.ts";
import type { FaultSchedule } from "../fault_schedule.ts";
import {
  type Actor,
  createFaultyClient,
  type FaultyClient,
  type Knowledge,
  type RequestObserver,
} from "./faulty_client.ts";
import { createProcess, type Process } from "./process.ts";
import type { ProgramPlace } from "./programs.ts";

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
  /** When this life began, monotonic ms. */
  readonly startedMs: number;
}

/** The processes. */
export interface Processes {
  startAll(): void;
  get(name: ProcessName): RunningProcess | undefined;
  /** Ends the process; it starts again after `downMs`. */
  kill(name: ProcessName, downMs: number): void;
  /** The request that the server works on now; undefined: the hand of a user or of the cluster. */
  actor(): Actor | undefined;
  /** Follows the requests of all processes. */
  follow(observer: RequestObserver): void;
  /** Ends of programs that no fault explains. */
  readonly failures: readonly string[];
}

/** A program that ended by itself starts again after this, ms. */
const RESTART_MS = 2000;

/** What the copies of a controller have of the pod that a request is about. */
function knowledgeOf(
  caches: Caches | undefined,
  { kind, key = "" }: SentRequest,
): Knowledge {
  if (caches === undefined) return { unsynced: [] };
  const unsynced = namedCaches(caches).filter(([, { synced }]) => !synced).map(([name]) => name);
  if (kind === "PodAllocation") {
    const record = caches.allocations.get(key);
    return { unsynced, record, pod: record && caches.pods.get(podKeyOf(record)) };
  }
  const pod = caches.pods.get(key);
  const { namespace, uid } = pod?.metadata ?? {};
  return { unsynced, pod, record: caches.allocations.get(`${namespace}/${uid}`) };
}

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
  const observers: RequestObserver[] = [];
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
    const knows = (line: SentRequest): Knowledge => knowledgeOf(known.caches, line);
    const crash = (downMs: number): void => kill(name, downMs);
    const client = createFaultyClient({
      ...{ name, process, access: api.access, clock, schedule, act, knows, crash },
      observe: {
        sent: (actor) => observers.forEach((one) => one.sent(actor)),
        failed: (actor) => observers.forEach((one) => one.failed(actor)),
        answered: (actor, answer) => observers.forEach((one) => one.answered(actor, answer)),
      },
    });
    running.set(name, { process, client, startedMs: clock.monotonic() });
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
    follow: (observer) => void observers.push(observer),
    failures,
  };
}
