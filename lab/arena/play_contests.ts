/**
 * Plays many contests, here or spread over workers. The results do not depend on where.
 *
 * @module
 */
import { type Contest, type OnPlayed, playContest, type Played } from "./contest.ts";
import type { Stage } from "./stages.ts";

/** Plays contests and returns what became of each, in their order. */
export interface ContestPlayer {
  play(contests: readonly Contest[], onPlayed: (contest: Contest) => void): Promise<Played[][]>;
  /** Ends it; contests under way are given up. */
  close(): void;
}

/** A message to a worker: first the stages, then contests one by one. */
export type ToWorker =
  | { readonly kind: "stages"; readonly stages: readonly Stage[] }
  | { readonly kind: "contest"; readonly contest: Contest };

/** A worker's answer: a sign per entry, then the outcome. */
export type FromWorker =
  | { readonly kind: "played" }
  | { readonly kind: "outcome"; readonly played: Played[] }
  | { readonly kind: "failed"; readonly message: string };

/** Plays them in this thread. */
export function playHere(stages: readonly Stage[]): ContestPlayer {
  return {
    async play(contests, onPlayed) {
      const outcomes: Played[][] = [];
      for (const contest of contests) {
        outcomes.push(await playContest(contest, { stages, onPlayed: () => onPlayed(contest) }));
      }
      return outcomes;
    },
    close() {},
  };
}

/** Plays them in `count` workers; each takes the next contest when it has done one. */
export function playInWorkers(stages: readonly Stage[], count: number): ContestPlayer {
  const workers = Array.from({ length: count }, () => {
    const worker = new Worker(new URL("./arena_worker.ts", import.meta.url), { type: "module" });
    worker.postMessage({ kind: "stages", stages } satisfies ToWorker);
    return worker;
  });
  return {
    async play(contests, onPlayed) {
      const outcomes: Played[][] = contests.map(() => []);
      let next = 0;
      await Promise.all(workers.map(async (worker) => {
        while (next < contests.length) {
          const index = next++;
          const contest = contests[index];
          if (contest === undefined) return;
          outcomes[index] = await ask(worker, contest, { onPlayed: () => onPlayed(contest) });
        }
      }));
      return outcomes;
    },
    close() {
      for (const worker of workers) worker.terminate();
    },
  };
}

function ask(
  worker: Worker,
  contest: Contest,
  { onPlayed }: { readonly onPlayed: OnPlayed },
): Promise<Played[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Played[]>();
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === "played") onPlayed();
    else if (data.kind === "outcome") resolve(data.played);
    else reject(new Error(`Cannot play stage ${contest.stage}: ${data.message}`));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(`Cannot play stage ${contest.stage}: ${event.message}`));
  };
  worker.postMessage({ kind: "contest", contest } satisfies ToWorker);
  return promise;
}
