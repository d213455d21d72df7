/**
 * The meaning of a reason.
 *
 * @module
 */

/** The meaning of a reason, and what to do about it. Both without a period at the end. */
export interface Reason {
  /** A sentence. */
  readonly means: string;
  /** What a person can do about it, or why there is nothing to do. */
  readonly remedy: string;
  /** Present for a failure that an administrator should see: the phase of a status with it is `Failed`. */
  readonly fails?: true;
  /** Present for what concerns many pods at once: a status with it gives no event. */
  readonly quiet?: true;
}
