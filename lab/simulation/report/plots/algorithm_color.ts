/**
 * Which colour stands for which algorithm, in every plot.
 *
 * @module
 */

/** Algorithms that have a colour of their own; further ones share the last. */
const COLORS = 6;

/** CSS colour of the algorithm at this place among the runs; 0 is ours. */
export function algorithmColor(index: number): string {
  return `var(--algorithm-${Math.min(index, COLORS - 1)})`;
}
