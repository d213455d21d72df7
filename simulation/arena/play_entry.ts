/**
 * Plays a scene under an entry's law.
 *
 * @module
 */
import { playMarket } from "../play_market.ts";
import { playFixed, playRival } from "../play_rival.ts";
import type { OnProgress } from "../play_step.ts";
import { allRivals } from "../rivals/all_rivals.ts";
import type { RunSeries } from "../run_series.ts";
import type { Scene } from "../scene.ts";
import { ALONE, AS_IT_IS, type Entry, isSameEntry, OURS, OURS_TIGHT, UNLIMITED } from "./entry.ts";

/** What is played, and who hears of it. */
export interface PlayEntryOptions {
  readonly scene: Scene;
  readonly onProgress?: OnProgress;
}

/**
 * The run of an entry that needs nothing from another's: ours, a rival, no limit, the limits as they
 * are. It is played at once when no promise is returned. Throws a RangeError for any other entry.
 */
export function playEntry(
  entry: Entry,
  { scene, ...told }: PlayEntryOptions,
): RunSeries | Promise<RunSeries> {
  const is = (other: Entry) => isSameEntry(entry, other);
  if (is(OURS)) return playMarket(scene, told);
  if (is(OURS_TIGHT)) return playMarket(scene, { agent: { idleCPU: "tight" }, ...told });
  if (is(UNLIMITED)) return playUnlimited(scene, told);
  if (is(ALONE)) return playUnlimited(withoutNeighbour(scene), told);
  if (is(AS_IT_IS)) {
    return playFixed(scene, { limits: scene.pods.map(({ ownLimit }) => ownLimit), ...told });
  }
  const rival = allRivals().find((one) => isSameEntry(one, entry));
  if (rival === undefined) {
    throw new RangeError(`Cannot play: no law is named "${entry.law}" ("${entry.setting}")`);
  }
  return playRival(scene, rival, told);
}

function playUnlimited(scene: Scene, told: Omit<PlayEntryOptions, "scene">): RunSeries {
  return playFixed(scene, { limits: scene.pods.map(() => scene.cores * 1000), ...told });
}

/** The victims meet the same periods: pods that come before others keep what is drawn for them. */
function withoutNeighbour(scene: Scene): Scene {
  const { victims = [] } = scene.contention ?? {};
  return { ...scene, pods: scene.pods.filter(({ name }) => victims.includes(name)) };
}
