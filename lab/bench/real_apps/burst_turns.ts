/**
 * The order and the times of bursts.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";
import { type App, APPS } from "./apps.ts";

/** A burst of one app. Seconds after the run's start. */
export interface Burst {
  readonly app: App["name"];
  readonly atS: number;
}

/** Load in a burst, as a multiple of that outside of it. */
export const BURST_FACTOR = 5;
/** Length of a burst. */
export const BURST_S = 8;
/** Length of a turn: what the burst leaves of it lets queues drain. */
export const TURN_S = 15;
/** A burst begins within these first seconds of its turn. */
const LATEST_S = 2;

/**
 * Bursts of all apps in turn, as often as whole rounds fit into each half of the run. The seed draws
 * the order in each round and the moments, which are the same for each algorithm.
 */
export function burstTurns(
  { seed, minutes }: { readonly seed: number; readonly minutes: number },
): Burst[] {
  const random = seededRandom(seed);
  const halfS = 30 * minutes;
  const rounds = Math.floor(halfS / (APPS.length * TURN_S));
  return [0, halfS].flatMap((startS) =>
    Array.from(
      { length: rounds },
      (_, round) =>
        APPS.map(({ name }) => ({ name, draw: random.next() }))
          .toSorted((a, b) => a.draw - b.draw)
          .map(({ name }, turn) => ({
            app: name,
            atS: startS + (round * APPS.length + turn) * TURN_S + LATEST_S * random.next(),
          })),
    ).flat()
  );
}
