/**
 * The same scene on the node model.
 *
 * @module
 */
import { AS_IT_IS, type Entry, OURS } from "../../arena/outcome.ts";
import { playEntry } from "../../arena/contest.ts";
import type { RunSeries } from "../../simulation/run_record.ts";
import type { Scene } from "../../simulation/scene.ts";
import { type AlgorithmName, ALGORITHMS } from "./algorithms.ts";

/** As the arena has them; replicas of their own its pods have not. */
const ENTRIES: Readonly<Partial<Record<AlgorithmName, Entry>>> = {
  static: AS_IT_IS,
  ours: OURS,
  vpa: { algorithm: "vpa", setting: "limit by ratio, outside bounds" },
};

/** Algorithms that the model plays. */
export const MODELLED_ALGORITHMS: readonly AlgorithmName[] = ALGORITHMS.filter((algorithm) =>
  algorithm in ENTRIES
);

/**
 * Plays the scene's own requests under an algorithm. Throws a `RangeError` for one that isn't modelled.
 */
export async function modelRun(scene: Scene, algorithm: AlgorithmName): Promise<RunSeries> {
  const entry = ENTRIES[algorithm];
  if (entry === undefined) {
    throw new RangeError(`Cannot model ${algorithm}: a simulated pod has no replicas`);
  }
  return await playEntry(entry, { scene });
}
