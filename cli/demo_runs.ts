/**
 * Plays the demo's scene under the market and under fixed limits.
 *
 * @module
 */
import { runMarket, runStatic } from "../lab/simulation/run_algorithm.ts";
import type { RunRecord } from "../lab/simulation/run_record.ts";
import type { Scene } from "../lab/simulation/scene.ts";

/** Receives the progress of an algorithm's run, virtual seconds. */
export type OnRunProgress = (algorithm: string, doneS: number) => void;

const MARKET = {
  algorithm: "market",
  description: "CoAllocator's agent and controller set the limits",
};
const OWN = {
  algorithm: "limits as set",
  description: "the users' own limits, never changed",
};
const EQUAL = {
  algorithm: "fixed, same cores",
  description: "the users' own limits, scaled so that their sum is the market's mean",
};

/** The market first: its mean sum of limits is what the last of the static runs is given. */
export async function runDemo(scene: Scene, onProgress: OnRunProgress): Promise<RunRecord[]> {
  const report = (algorithm: string) => (doneS: number) => onProgress(algorithm, doneS);
  const market = await runMarket(scene, { ...MARKET, onProgress: report(MARKET.algorithm) });
  const originalLimits = scene.pods.map(({ originalLimit }) => originalLimit);
  const own = runStatic(scene, {
    ...OWN,
    limits: originalLimits,
    onProgress: report(OWN.algorithm),
  });
  const sum = originalLimits.reduce((total, limit) => total + limit, 0);
  const factor = market.scores.coresAllocated * 1000 / sum;
  const equal = runStatic(scene, {
    ...EQUAL,
    limits: originalLimits.map((limit) => Math.round(limit * factor)),
    onProgress: report(EQUAL.algorithm),
  });
  return [market, own, equal];
}
