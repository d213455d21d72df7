/**
 * A bug that is planted into the product to see whether the fault simulator finds it.
 *
 * @module
 */

/** One planted bug: a text that stands once in a file is replaced. */
export interface Mutant {
  readonly name: string;
  /** `stale`: acts on an old view. `crash`: loses something between two writes. `missed`: an event. */
  readonly kind: "stale" | "crash" | "missed" | "rule";
  /** Path from the project's root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The source with the bug. Throws where the text does not stand there exactly once. */
export function mutate(source: string, { name, file, from, to }: Mutant): string {
  const parts = source.split(from);
  if (parts.length !== 2) {
    throw new Error(
      `Cannot plant ${name}: its text stands ${parts.length - 1} times in ${file}, expected once`,
    );
  }
  return parts.join(to);
}
