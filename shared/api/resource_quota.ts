/**
 * A ResourceQuota as this product sees it: what it leaves of limits and requests.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";

/** A bound and how much of it is used, millicores or bytes. */
export interface QuotaBound {
  readonly hard: number;
  readonly used: number;
}

/** What a quota says of memory, bytes; absent when it does not bound it. */
export interface MemoryBounds {
  readonly requests?: QuotaBound;
  readonly limits?: QuotaBound;
}

/** Which pods a quota counts: those that all its scopes take in. */
export interface QuotaScope {
  /** For instance `PriorityClass`. */
  readonly name: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`; of `spec.scopes`: `Exists`. */
  readonly operator: string;
  readonly values: readonly string[];
}

/** The trimmed ResourceQuota. */
export interface ResourceQuota extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  /**
   * `limits.cpu` of `status.hard` (of `spec.hard` before the first status), millicores; absent when
   * the quota does not bound it.
   */
  readonly hardLimitsCPU?: number;
  /** `limits.cpu` of `status.used`, millicores; 0 before the first status. */
  readonly usedLimitsCPU: number;
  /**
   * `requests.cpu`, which may also be named `cpu`, as of the limits; the tighter where both are
   * there, absent when the quota does not bound it.
   */
  readonly requestsCPU?: QuotaBound;
  /**
   * `requests.memory`, which may also be named `memory`, and `limits.memory`, bytes; absent when the
   * quota bounds neither. The market does not look at it.
   */
  readonly memory?: MemoryBounds;
  /** `spec.scopes` and `spec.scopeSelector`; empty when the quota counts all pods. */
  readonly scopes: readonly QuotaScope[];
}
