/**
 * "Did you mean": the known name that is nearest to a misspelt one.
 *
 * @module
 */

/** A name with a larger share of wrong letters is another name. */
const MAX_WRONG_SHARE = 1 / 3;

/** The known name with the fewest edits from `name`; undefined when none is near. O(n·m) each. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let minEdits = Math.floor(name.length * MAX_WRONG_SHARE) + 1;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= minEdits) continue;
    minEdits = edits;
    nearest = candidate;
  }
  return nearest;
}

/** Letters to insert, remove or replace to turn one text into the other (Levenshtein, 1966). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let index = 1; index <= from.length; index++) {
    const next = [index];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[index - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
