/**
 * Namespaces, and the LimitRanges and ResourceQuotas that bound their pods.
 *
 * @module
 */
import type { ApiObject, NamespacedObject } from "./object.ts";

/** The trimmed namespace. */
export interface Namespace extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

/** The bounds that an item sets for one resource. */
export interface LimitRangeBounds {
  /** `min`, of requests and limits. */
  readonly min?: number;
  /** `max`, of requests and limits. */
  readonly max?: number;
  /** `maxLimitRequestRatio`: limit / request, without a unit. */
  readonly ratio?: number;
}

/**
 * One item of `spec.limits` that bounds CPU or memory, or has defaults; others are left out. `min`, `max`
 * and `ratio` are of CPU, in millicores.
 */
export interface LimitRangeItem extends LimitRangeBounds {
  /** The range holds for each container, or for the sums of a pod. */
  readonly type: "Container" | "Pod";
  /** Bytes; absent: memory is not bounded. Only rightsizing reads it. */
  readonly memory?: LimitRangeBounds;
  /**
   * `default` and `defaultRequest` of any resource, which the server writes into each container that
   * lacks it: quantities by `limits.<resource>` and `requests.<resource>`. `Container` items only.
   */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** The trimmed LimitRange. */
export interface LimitRange extends NamespacedObject {
  readonly items: readonly LimitRangeItem[];
  /** Why it can't be read, in a sentence; then there are no items. */
  readonly unreadable?: string;
}

/** A bound and how much of it is used, millicores or bytes. */
export interface QuotaBound {
  readonly hard: number;
  readonly used: number;
}

/** A resource that quotas bound, by Kubernetes' name. */
export type BoundedResource = `${"requests" | "limits"}.${"cpu" | "memory"}`;

/** Which pods a quota counts: those that all its scopes take in. */
export interface QuotaScope {
  /** For instance `PriorityClass`. */
  readonly name: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`; of `spec.scopes`: `Exists`. */
  readonly operator: string;
  readonly values: readonly string[];
}

/** The trimmed ResourceQuota. */
export interface ResourceQuota extends NamespacedObject {
  /**
   * From `status`, or from `spec.hard` before there is one; the tighter bound of `requests.cpu` and its
   * other name, `cpu`. Absent: not bounded.
   */
  readonly bounds: Readonly<Partial<Record<BoundedResource, QuotaBound>>>;
  /** `spec.scopes` and `spec.scopeSelector`; empty when the quota counts all pods. */
  readonly scopes: readonly QuotaScope[];
}

/** An object that may be unreadable. */
export interface PartlyRead {
  readonly metadata: { readonly name: string };
  /** Why it can't be read, in a sentence. */
  readonly unreadable?: string;
}

/** A sentence for each unreadable object: `LimitRange caps: Cannot parse …`. */
export function unreadableMessages(
  kind: string,
  objects: readonly PartlyRead[],
): readonly string[] {
  return objects.flatMap(({ metadata: { name }, unreadable }) =>
    unreadable === undefined ? [] : [`${kind} ${name}: ${unreadable}`]
  );
}
