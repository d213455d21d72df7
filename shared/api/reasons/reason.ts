/**
 * What stands behind a reason word.
 *
 * @module
 */

/** A reason, told to people. Both without a period at the end. */
export interface Reason {
  /** A sentence. */
  readonly means: string;
  /** What a person can do about it, or why there is nothing to do. */
  readonly remedy: string;
}
