/**
 * The same scene on the node model.
 *
 * @module
 */
import { playMarket } from "../../simulation/play_market.ts";
import { playFixed, playRival } from "../../simulation/play_rival.ts";
import { vpa } from "../../simulation/rivals/vpa.ts";
import type { RunSeries } from "../../simulation/run_series.ts";
import type { Scene } from "../../simulation/scene.ts";
import type { LawName } from "./laws.ts";

/** Laws that the model plays: replicas of their own it has not. */
export const MODELLED_LAWS: readonly LawName[] = ["static", "ours", "vpa"];

/** Plays the scene's own requests under a law. Throws a `RangeError` for one that isn't modelled. */
export async function modelRun(scene: Scene, law: LawName): Promise<RunSeries> {
  switch (law) {
    case "static":
      return playFixed(scene, { limits: scene.pods.map(({ ownLimit }) => ownLimit) });
    case "ours":
      return await playMarket(scene);
    case "vpa":
      return playRival(scene, vpa({ limit: "ratio", act: "bounds" }));
    case "hpa":
      throw new RangeError(`Cannot model ${law}: a simulated pod has no replicas`);
  }
}
