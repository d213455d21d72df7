/**
 * Plays a scene under an algorithm and writes down what happened.
 *
 * @module
 */
import { assembleRecord } from "./recorder.ts";
import { playFixed } from "./play_rival.ts";
import { type OnProgress, playMarket, type PlayMarketOptions } from "./play_market.ts";
import type { RunRecord } from "./run_record.ts";
import type { Scene } from "./scene.ts";

/** What an algorithm is called in tables, and a sentence on what it does. */
export interface AlgorithmText {
  readonly algorithm: string;
  readonly description: string;
}

/** What a run of fixed limits needs beside the scene. */
export interface StaticOptions extends AlgorithmText {
  /** In the order of the scene's pods, millicores. */
  readonly limits: readonly number[];
  readonly onProgress?: OnProgress;
}

/** The scene under fixed limits. */
export function runStatic(scene: Scene, options: StaticOptions): RunRecord {
  return assembleRecord(playFixed(scene, options), { ...options, seed: scene.seed });
}

/** The scene under the market: the real loops of agent and controller on a simulated cluster. */
export async function runMarket(
  scene: Scene,
  options: AlgorithmText & PlayMarketOptions,
): Promise<RunRecord> {
  return assembleRecord(await playMarket(scene, options), { ...options, seed: scene.seed });
}
