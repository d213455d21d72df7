/**
 * Plays a scene under an entry's algorithm.
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

/** The scene, and the receivers of results. */
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
  { scene, ...reports }: PlayEntryOptions,
): RunSeries | Promise<RunSeries> {
  const is = (other: Entry) => isSameEntry(entry, other);
  if (is(OURS)) return playMarket(scene, reports);
  if (is(OURS_TIGHT)) return playMarket(scene, { agent: { idleCPU: "tight" }, ...reports });
  if (is(UNLIMITED)) return playUnlimited(scene, reports);
  if (is(ALONE)) return playUnlimited(withoutNeighbour(scene), reports);
  if (is(AS_IT_IS)) {
    return playFixed(scene, {
      limits: scene.pods.map(({ originalLimit }) => originalLimit),
      ...reports,
    });
  }
  const rival = allRivals().find((one) => isSameEntry(one, entry));
  if (rival === undefined) {
    throw new RangeError(
      `Cannot play: no algorithm is named "${entry.algorithm}" ("${entry.setting}")`,
    );
  }
  return playRival(scene, rival, reports);
}

function playUnlimited(scene: Scene, reports: Omit<PlayEntryOptions, "scene">): RunSeries {
  return playFixed(scene, { limits: scene.pods.map(() => scene.cores * 1000), ...reports });
}

/** The victims meet the same periods: pods that come before others keep what is drawn for them. */
function withoutNeighbour(scene: Scene): Scene {
  const { victims = [] } = scene.contention ?? {};
  return { ...scene, pods: scene.pods.filter(({ name }) => victims.includes(name)) };
}
