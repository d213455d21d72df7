/**
 * Which colour stands for which law, in every plot.
 *
 * @module
 */

/** Laws that have a colour of their own; further ones share the last. */
const COLORS = 6;

/** CSS colour of the law at this place among the runs; 0 is ours. */
export function algorithmColor(index: number): string {
  return `var(--law-${Math.min(index, COLORS - 1)})`;
}
