/**
 * The meaning of a reason.
 *
 * @module
 */

/** The meaning of a reason, and what to do about it. Both without a period at the end. */
export interface Reason {
  /** A sentence. */
  readonly means: string;
  /** A remedy by a person, or why there is nothing to do. */
  readonly remedy: string;
  /** Present for a failure that an administrator should see: the phase of a status with it is `Failed`. */
  readonly fails?: true;
  /** Present for what is usual, or concerns many pods at once: it gives no event. */
  readonly quiet?: true;
  /** The object that many pods share and that an event is about in their place; absent: the pod. */
  readonly about?: "node" | "workload";
}
