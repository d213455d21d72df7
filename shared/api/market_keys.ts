/**
 * Labels and annotations of the market, and the places where each has an effect. A key that is missing
 * here is reported as unknown.
 *
 * @module
 */

/** Prefix of the market's labels and annotations. */
export const MARKET_PREFIX = "mbcas.io/";

/** Label or annotation, on pod or namespace: `"false"` opts out. As label of a namespace, `"true"` opts in. */
export const MANAGED = "mbcas.io/managed";

/** Annotation of a Guaranteed pod: `"false"` opts it in; `"true"`, as without it, leaves it out. */
export const SKIP_GUARANTEED = "mbcas.io/skip-guaranteed";

/** An administrator's label on a namespace: annotations there may ask for more. */
export const ALLOW_OVERRIDES = "mbcas.io/allow-overrides";

/** Annotation of a pod: the ceiling of the whole pod. */
export const MAX_CPU = "mbcas.io/max-cpu";

/** Annotation of a pod: factor on its weight. */
export const PRIORITY_MULTIPLIER = "mbcas.io/priority-multiplier";

/** Label or annotation of a namespace: factor on original limits. */
export const BURST_FACTOR = "mbcas.io/burst-factor";

/** Annotation of a pod: factor on its ceilings and the time after Ready, for instance `2x,30s`. */
export const STARTUP_BOOST = "mbcas.io/startup-boost";

/** Annotation of a pod: the name of a query of the configuration. */
export const DEMAND_QUERY = "mbcas.io/demand-query";

/** Annotation of pod, workload or HPA: `"false"` stops the market from adapting limits to the HPA. */
export const HPA_COORDINATION = "mbcas.io/hpa-coordination";

/** Labels of PodAllocations, for `kubectl get podallocations -l`. */
export const ALLOCATION_LABELS = {
  pod: "mbcas.io/pod",
  node: "mbcas.io/node",
  workloadKind: "mbcas.io/workload-kind",
  workload: "mbcas.io/workload",
} as const;

/** Labels of a pod that its PodAllocation has, too. */
export const COPIED_LABELS: readonly string[] = [
  ...["name", "instance", "component", "part-of"].map((name) => `app.kubernetes.io/${name}`),
  "app",
];

/** Objects with labels or annotations that may concern a pod. */
export type KeyHolder = "pod" | "namespace" | "workload" | "HPA";

/** Where a key has an effect. */
export type KeyPlace = `${"label" | "annotation"} of the ${KeyHolder}`;

/** Where a key is read, and what its value is. */
export interface MarketKey {
  /** A `switch` is `"true"` or `"false"`. */
  readonly kind: "switch" | "factor" | "CPU quantity" | "boost" | "name of a query";
  readonly places: readonly KeyPlace[];
}

const OF_POD: readonly KeyPlace[] = ["annotation of the pod"];
const OF_NAMESPACE: readonly KeyPlace[] = [
  "label of the namespace",
  "annotation of the namespace",
];

/** All keys, in the order in which warnings name them. */
export const MARKET_KEYS: ReadonlyMap<string, MarketKey> = new Map<string, MarketKey>([
  [MANAGED, {
    kind: "switch",
    places: ["label of the pod", "annotation of the pod", ...OF_NAMESPACE],
  }],
  [SKIP_GUARANTEED, { kind: "switch", places: OF_POD }],
  [ALLOW_OVERRIDES, { kind: "switch", places: ["label of the namespace"] }],
  [HPA_COORDINATION, {
    kind: "switch",
    places: ["annotation of the pod", "annotation of the workload", "annotation of the HPA"],
  }],
  [MAX_CPU, { kind: "CPU quantity", places: OF_POD }],
  [PRIORITY_MULTIPLIER, { kind: "factor", places: OF_POD }],
  [STARTUP_BOOST, { kind: "boost", places: OF_POD }],
  [DEMAND_QUERY, { kind: "name of a query", places: OF_POD }],
  [BURST_FACTOR, { kind: "factor", places: OF_NAMESPACE }],
]);
