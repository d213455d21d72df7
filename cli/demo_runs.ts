/**
 * Plays the demo's scene under the market and under fixed limits.
 *
 * @module
 */
import { runMarket, runStatic } from "../simulation/run_algorithm.ts";
import type { RunRecord } from "../simulation/run_record.ts";
import type { Scene } from "../simulation/scene.ts";

/** Receives the progress of an algorithm's run, virtual seconds. */
export type OnRunProgress = (law: string, doneS: number) => void;

const MARKET = {
  law: "market",
  description: "CoAllocator's agent and controller set the limits",
};
const OWN = {
  law: "limits as set",
  description: "the users' original limits, never changed",
};
const EQUAL = {
  law: "fixed, same cores",
  description: "the users' original limits, scaled so that their sum is the market's mean",
};

/** The market first: its mean sum of limits is what the last of the static runs is given. */
export async function runDemo(scene: Scene, onProgress: OnRunProgress): Promise<RunRecord[]> {
  const report = (law: string) => (doneS: number) => onProgress(law, doneS);
  const market = await runMarket(scene, { ...MARKET, onProgress: report(MARKET.law) });
  const ownLimits = scene.pods.map(({ ownLimit }) => ownLimit);
  const own = runStatic(scene, { ...OWN, limits: ownLimits, onProgress: report(OWN.law) });
  const sum = ownLimits.reduce((total, limit) => total + limit, 0);
  const factor = market.scores.coresAllocated * 1000 / sum;
  const equal = runStatic(scene, {
    ...EQUAL,
    limits: ownLimits.map((limit) => Math.round(limit * factor)),
    onProgress: report(EQUAL.law),
  });
  return [market, own, equal];
}
