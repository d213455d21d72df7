/**
 * A process of the simulated cluster: it can end between any two requests, stand still and go on, and
 * its wall clock can jump. Code runs in it through its clock and its requests alone, so a process that
 * ended simply never continues.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { type Caches, namedCaches } from "../../../controller/caches.ts";
import { podKeyOf } from "../../../controller/allocation/pod_snapshot.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import type { SentRequest } from "../../../lab/simulation/api/request_gate.ts";
import { type FaultSchedule, PROCESSES, type ProcessName } from "../fault.ts";
import {
  type Actor,
  createFaultyClient,
  type FaultyClient,
  type Knowledge,
  type RequestObserver,
} from "./faulty_client.ts";
import type { ProgramPlace } from "./fault_cluster.ts";

/** One life of a process. */
export interface Process {
  readonly clock: Clock;
  readonly alive: boolean;
  /** When it last stood still, until then; -Infinity: never. Monotonic ms. */
  readonly pausedUntilMs: number;
  /** Runs `action` now, when the process goes on, or never. */
  run(action: () => void): void;
  /** The answer as the process receives it. */
  receive<T>(answer: Promise<T>): Promise<T>;
  kill(): void;
  pause(ms: number): void;
  jumpClock(ms: number): void;
  /** Calls `onEnd` when it is killed. */
  onEnd(onEnd: () => void): void;
}

/** A process that runs. */
function createProcess(clock: VirtualClock): Process {
  let alive = true;
  let pausedUntilMs = -Infinity;
  let wallOffsetMs = 0;
  let waiting: (() => void)[] = [];
  const ends: (() => void)[] = [];
  const standsStill = (): boolean => clock.monotonic() < pausedUntilMs;

  function run(action: () => void): void {
    if (!alive) return;
    if (standsStill() || waiting.length > 0) waiting.push(action);
    else action();
  }

  function goOn(): void {
    if (standsStill()) return;
    const actions = waiting;
    waiting = [];
    for (const action of actions) if (alive) action();
  }

  return {
    clock: {
      wall: () => clock.wall() + wallOffsetMs,
      monotonic: () => clock.monotonic(),
      sleep(ms, signal) {
        if (signal?.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          const wake = (): void => {
            cancel();
            signal?.removeEventListener("abort", wake);
            run(resolve);
          };
          const cancel = clock.at(clock.monotonic() + ms, wake);
          signal?.addEventListener("abort", wake, { once: true });
        });
      },
    },
    get alive() {
      return alive;
    },
    get pausedUntilMs() {
      return pausedUntilMs;
    },
    run,
    receive: (answer) =>
      new Promise((resolve, reject) => {
        answer.then((value) => run(() => resolve(value)), (error) => run(() => reject(error)));
      }),
    kill() {
      alive = false;
      waiting = [];
      for (const onEnd of ends) onEnd();
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + ms);
      clock.at(pausedUntilMs, goOn);
    },
    jumpClock: (ms) => void (wallOffsetMs += ms),
    onEnd: (onEnd) => void ends.push(onEnd),
  };
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

/** The controller's copies of the pod that a request is about. */
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
