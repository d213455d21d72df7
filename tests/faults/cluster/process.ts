/**
 * A process of the simulated cluster: it can end between any two requests, stand still and go on, and
 * its wall clock can jump. Code runs in it through its clock and its requests alone, so a process that
 * ended simply never continues.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";

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
export function createProcess(clock: VirtualClock): Process {
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
