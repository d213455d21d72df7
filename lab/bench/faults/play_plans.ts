/**
 * Plays plans in several threads and collects those that break a promise.
 *
 * @module
 */
import type { FaultPlan } from "../../../tests/faults/fault.ts";
import type { Violation } from "../../../tests/faults/invariants.ts";
import { playPlan } from "../../../tests/faults/play_plan.ts";

/** A plan that broke a promise. */
export interface FailedPlan {
  readonly plan: FaultPlan;
  readonly violations: readonly Violation[];
}

/** How plans are played. */
export interface PlayOptions {
  readonly jobs: number;
  /** Called after each plan with the number of those that are done. */
  readonly onDone: (done: number) => void;
  /** Called with each plan that failed. */
  readonly onFailed?: (failed: FailedPlan) => void;
}

type Play = (plan: FaultPlan) => Promise<readonly Violation[]>;

/** A plan that cannot be played to its end counts as one that failed. */
export async function playSafely(plan: FaultPlan): Promise<readonly Violation[]> {
  try {
    return (await playPlan(plan)).violations;
  } catch (error) {
    return [{ invariant: "Crashed", atMs: 0, message: String(error) }];
  }
}

/** A thread; the plan is played in it. */
function createThread(): { readonly play: Play; end(): void } {
  const worker = new Worker(new URL("./plan_worker.ts", import.meta.url), { type: "module" });
  return {
    play: (plan) =>
      new Promise((resolve) => {
        worker.onmessage = (
          { data }: MessageEvent<{ violations?: readonly Violation[]; error?: string }>,
        ) =>
          resolve(
            data.violations ?? [{ invariant: "Crashed", atMs: 0, message: data.error ?? "" }],
          );
        worker.postMessage(plan);
      }),
    end: () => worker.terminate(),
  };
}

/** Plays the plans in their order. */
export async function playPlans(
  plans: readonly FaultPlan[],
  { jobs, onDone, onFailed = () => {} }: PlayOptions,
): Promise<readonly FailedPlan[]> {
  const failed: FailedPlan[] = [];
  let next = 0;
  let played = 0;
  async function work(play: Play): Promise<void> {
    for (let plan = plans[next++]; plan !== undefined; plan = plans[next++]) {
      const violations = await play(plan);
      onDone(++played);
      if (violations.length === 0) continue;
      failed.push({ plan, violations });
      onFailed({ plan, violations });
    }
  }
  if (jobs === 1) await work(playSafely);
  else {
    const threads = Array.from({ length: jobs }, createThread);
    await Promise.all(threads.map(({ play }) => work(play)));
    for (const thread of threads) thread.end();
  }
  return failed;
}
