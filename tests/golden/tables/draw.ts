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
    oneOf: (choices) => choices[whole(0, choices.length - 1)] as typeof choices[number],
    whole,
  };
}

/** A case, and how often it is drawn. */
export type DrawnCase<Input> = readonly [
  change: (input: Input, draw: Draw) => Input,
  times: number,
];

/** What cases are drawn from. */
export interface CaseOptions<Input> {
  readonly seed: number;
  /** An input to which no case applies. */
  readonly usual: (draw: Draw) => Input;
}

/** Each case several times. Each has a seed of its own: a case at the end changes no other row. */
export function drawCases<Input>(
  cases: readonly DrawnCase<Input>[],
  { seed, usual }: CaseOptions<Input>,
): readonly Input[] {
  return cases.flatMap(([change, times], index) => {
    const draw = drawWith(1000 * seed + index);
    return Array.from({ length: times }, () => change(usual(draw), draw));
  });
}
