/**
 * A LimitRange as this product sees it: what it says of CPU, and what it writes into containers.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";

/** One item of `spec.limits` that bounds CPU or has defaults; others are left out. Millicores. */
export interface LimitRangeItem {
  /** The range holds for each container, or for the sums of a pod. */
  readonly type: "Container" | "Pod";
  /** `min.cpu`, of requests and limits. */
  readonly min?: number;
  /** `max.cpu`, of requests and limits. */
  readonly max?: number;
  /** `maxLimitRequestRatio.cpu`: limit / request, without a unit. */
  readonly ratio?: number;
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
