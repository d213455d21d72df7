/**
 * How many replicas run on a class of nodes, beside how many are to, as a short bar.
 *
 * @module
 */

/** What a bar shows. */
export interface SplitFigures {
  readonly actual: number;
  readonly desired: number;
}

/** What the characters of a bar are. */
export const BAR_LEGEND = "█ there and wished, ▒ too many, · missing";

/** Characters of the longest bar. */
export const BAR_WIDTH = 30;

/**
 * Replicas that are there as wished as `█`, those beyond as `▒`, missing ones as `·`: 3 of 5 are `███··`, 5
 * of 3 `███▒▒`. `most` is the number that the longest bar stands for: with more than fit each character
 * stands for several, and of each kind that there is something is seen.
 */
export function splitBar(
  { actual, desired }: SplitFigures,
  { most }: { readonly most: number },
): string {
  const scale = Math.min(1, BAR_WIDTH / Math.max(1, most));
  const drawn = (count: number, character: string): string =>
    character.repeat(count > 0 ? Math.max(1, Math.round(count * scale)) : 0);
  return drawn(Math.min(actual, desired), "█") + drawn(actual - desired, "▒") +
    drawn(desired - actual, "·");
}
