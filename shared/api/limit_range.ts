/**
 * A LimitRange as this product sees it: what it says of CPU and memory, and what it writes into
 * containers.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";

/** What an item says of one resource. */
export interface LimitRangeBounds {
  /** `min`, of requests and limits. */
  readonly min?: number;
  /** `max`, of requests and limits. */
  readonly max?: number;
  /** `maxLimitRequestRatio`: limit / request, without a unit. */
  readonly ratio?: number;
}

/**
 * One item of `spec.limits` that bounds CPU or memory, or has defaults; others are left out. Its own
 * bounds are those of CPU, in millicores.
 */
export interface LimitRangeItem extends LimitRangeBounds {
  /** The range holds for each container, or for the sums of a pod. */
  readonly type: "Container" | "Pod";
  /** Bytes; absent: nothing is said. The market does not look at it. */
  readonly memory?: LimitRangeBounds;
  /**
   * `default` and `defaultRequest` of any resource, which the server writes into each container that
   * lacks it: quantities by `limits.<resource>` and `requests.<resource>`. Of containers only.
   */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** The trimmed LimitRange. */
export interface LimitRange extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly items: readonly LimitRangeItem[];
  /** Why it can't be read, in a sentence; then there are no items. */
  readonly unreadable?: string;
}
