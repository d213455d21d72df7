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
  /** Set for a failure that an administrator should see: it makes the phase of a status `Failed`. */
  readonly fails?: true;
  /** Set for a usual reason, or one that concerns many pods at once: no event is sent for it. */
  readonly quiet?: true;
  /** The object that events are about, as many pods share it; absent: the pod. */
  readonly about?: "node" | "workload";
}
