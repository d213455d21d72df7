/**
 * Draws inputs of decision tables from a seed. Nothing else is drawn from, so a table is the same on
 * each machine.
 *
 * @module
 */
import { type Random, seededRandom } from "../../../shared/random.ts";

/** Draws values; each call takes the next number of the seed. */
export interface Draw {
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of these, which are at least one. */
  oneOf<const T>(choices: readonly T[]): T;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
}

/** Draws with this seed. */
export function drawWith(seed: number): Draw {
  const random: Random = seededRandom(seed);
  const whole: Draw["whole"] = (least, most) =>
    least + Math.floor(random.next() * (most - least + 1));
  return {
    chance: (probability) => random.next() < probability,
    oneOf: (choices) => {
      const chosen = choices[whole(0, choices.length - 1)];
      if (chosen === undefined) throw new RangeError("Cannot draw: there are no choices");
      return chosen;
    },
    whole,
  };
}
