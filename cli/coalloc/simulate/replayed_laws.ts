/**
 * The laws that a history is replayed under: the limit as it is, what people do about it, and ours.
 *
 * @module
 */
import { type Entry, isSameEntry, OURS, OURS_LENT } from "../../../simulation/arena/entry.ts";
import { playFixed, playRival } from "../../../simulation/play_rival.ts";
import { playMarket } from "../../../simulation/play_market.ts";
import type { OnProgress } from "../../../simulation/play_step.ts";
import {
  LIMIT_FACTORS,
  limitOfP90,
  requestTimes,
} from "../../../simulation/rivals/static_limit.ts";
import { rivalsNamed } from "../../../simulation/rivals/all_rivals.ts";
import type { Rival } from "../../../simulation/rivals/rival.ts";
import type { RunSeries } from "../../../simulation/run_series.ts";
import type { Scene } from "../../../simulation/scene.ts";

/** A law that can be played. */
export interface ReplayedLaw extends Entry {
  /** A sentence for the reader: what it does. */
  readonly description: string;
  /** Plays at once when it returns no promise. */
  readonly play: (scene: Scene, onProgress: OnProgress) => RunSeries | Promise<RunSeries>;
}

/** The user's own limit, never changed. */
export const AS_IT_IS: Entry = { law: "static", setting: "as it is" };
/** The limit that knows the load beforehand. */
export const P90: Entry = nameOf(limitOfP90());

/** In words: `ours`, `ours, lending`, `vpa: limit by ratio, at 10 %`. */
export function lawLabel(entry: Entry): string {
  if (isSameEntry(entry, OURS)) return "ours";
  if (isSameEntry(entry, OURS_LENT)) return "ours, lending";
  return entry.setting === "" ? entry.law : `${entry.law}: ${entry.setting}`;
}

/** All of them, ours first. */
export function replayedLaws(): readonly ReplayedLaw[] {
  return [
    {
      ...OURS,
      description: "CoAllocator's agent and controller set the limit; nothing is lent",
      play: (scene, onProgress) => playMarket(scene, { agent: { lendUpTo: 0 }, onProgress }),
    },
    {
      ...OURS_LENT,
      description: "the same with its defaults: idle CPU is lent on top, and taken back on demand",
      play: (scene, onProgress) => playMarket(scene, { onProgress }),
    },
    {
      ...AS_IT_IS,
      description: "the container's own limit, never changed",
      play: playOwnLimit,
    },
    ...LIMIT_FACTORS.map((factor) =>
      played(requestTimes(factor), "the request times a factor, never changed")
    ),
    played(
      limitOfP90(),
      "the 90th percentile of the whole load with a margin, which nobody knows beforehand",
    ),
    ...rivalsNamed(["vpa"]).map((rival) =>
      played(rival, "the Vertical Pod Autoscaler's rules, resizing in place")
    ),
  ];
}

/** Without any limit: what is left of latency is the load's own. */
export function playNoLimit(scene: Scene, onProgress: OnProgress): RunSeries {
  return playFixed(scene, { limits: scene.pods.map(() => scene.cores * 1000), onProgress });
}

function playOwnLimit(scene: Scene, onProgress: OnProgress): RunSeries {
  return playFixed(scene, { limits: scene.pods.map(({ ownLimit }) => ownLimit), onProgress });
}

function played(rival: Rival, description: string): ReplayedLaw {
  return {
    ...nameOf(rival),
    description,
    play: (scene, onProgress) => playRival(scene, rival, { onProgress }),
  };
}

function nameOf({ law, setting }: Entry): Entry {
  return { law, setting };
}
