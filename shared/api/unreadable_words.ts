/**
 * What is told of objects that can't be read: they must not pass for ones that bound nothing.
 *
 * @module
 */

/** An object of whatever kind, as far as that goes. */
export interface PartlyRead {
  readonly metadata: { readonly name: string };
  /** Why it can't be read, in a sentence. */
  readonly unreadable?: string;
}

/** A sentence for each that can't be read: `LimitRange caps: Cannot parse …`. */
export function unreadableWords(kind: string, objects: readonly PartlyRead[]): readonly string[] {
  return objects.flatMap(({ metadata: { name }, unreadable }) =>
    unreadable === undefined ? [] : [`${kind} ${name}: ${unreadable}`]
  );
}
