/**
 * Labels and annotations of the market, and the places where each has an effect. A key that is missing
 * here is reported as unknown.
 *
 * @module
 */

/** What all of them begin with. */
export const MARKET_PREFIX = "mbcas.io/";

/** Label or annotation, on pod or namespace: `"false"` opts out. As label of a namespace, `"true"` opts in. */
export const MANAGED = "mbcas.io/managed";

/** Annotation of a Guaranteed pod: `"false"` takes it in; `"true"` is as if it were not there. */
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

/** Annotation of pod, workload or HPA: `"false"` leaves limits and HPA alone with each other. */
export const HPA_COORDINATION = "mbcas.io/hpa-coordination";

/** Objects with labels or annotations that may concern a pod. */
export type KeyHolder = "pod" | "namespace" | "workload" | "HPA";

/** A place of a key. */
export type KeyPlace = `${"label" | "annotation"} of the ${KeyHolder}`;

const OF_POD: readonly KeyPlace[] = ["annotation of the pod"];

/** The places that each key is read from. */
export const MARKET_KEY_PLACES: ReadonlyMap<string, readonly KeyPlace[]> = new Map<
  string,
  readonly KeyPlace[]
>([
  [MANAGED, [
    "label of the pod",
    "annotation of the pod",
    "label of the namespace",
    "annotation of the namespace",
  ]],
  [SKIP_GUARANTEED, OF_POD],
  [MAX_CPU, OF_POD],
  [PRIORITY_MULTIPLIER, OF_POD],
  [STARTUP_BOOST, OF_POD],
  [DEMAND_QUERY, OF_POD],
  [BURST_FACTOR, ["label of the namespace", "annotation of the namespace"]],
  [HPA_COORDINATION, [
    "annotation of the pod",
    "annotation of the workload",
    "annotation of the HPA",
  ]],
  [ALLOW_OVERRIDES, ["label of the namespace"]],
]);
