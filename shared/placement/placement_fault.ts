/**
 * What is wrong with a label or annotation of placement, told to the one who wrote it.
 *
 * @module
 */

/** A word that can't be read, or is missing. */
export interface PlacementFault {
  /** Whose word it is. */
  readonly of: "workload" | "namespace";
  readonly place: "label" | "annotation";
  /** For instance `spotalis.io/spot-percentage`. */
  readonly key: string;
  /** What stands there, in quotes and cut where it is long; absent where nothing does. */
  readonly value?: string;
  /** What to write, beginning with "must". */
  readonly remedy: string;
}

/** `annotation spotalis.io/min-on-demand of the workload is "two": must be …`. */
export function placementFaultText({ of, place, key, value, remedy }: PlacementFault): string {
  return `${place} ${key} of the ${of} is ${value ?? "missing"}: ${remedy}`;
}
