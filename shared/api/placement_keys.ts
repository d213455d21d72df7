/**
 * Labels and annotations of placement, by the names that Spotalis gave them.
 *
 * @module
 */

/** Prefix of placement's labels and annotations. */
export const PLACEMENT_PREFIX = "spotalis.io/";

/** Label or annotation of a workload, label of a namespace: `"true"` or `"false"`. */
export const ENABLED = "spotalis.io/enabled";

/** Annotation of a workload: the share of its replicas that may run on spot nodes, `70` or `70%`. */
export const SPOT_PERCENTAGE = "spotalis.io/spot-percentage";

/** Annotation of a workload: the least number of replicas on on-demand nodes. */
export const MIN_ON_DEMAND = "spotalis.io/min-on-demand";

/** Annotation of a workload or namespace: when moves may begin, as five fields of cron. */
export const DISRUPTION_SCHEDULE = "spotalis.io/disruption-schedule";

/** Annotation of a workload or namespace: for how long moves may begin, for instance `2h`. */
export const DISRUPTION_DURATION = "spotalis.io/disruption-duration";

/** Annotation of a workload: with `"true"` no running replica of it is moved. */
export const PAUSED = "spotalis.io/paused";

/** Label of pods: the class of nodes that they were made for. */
export const CAPACITY = "spotalis.io/capacity";
