/**
 * Keys of OptiPod's configuration. In the settings file they stand by themselves, in no section; the
 * controller's table says what each of them sets, and the agent passes over them.
 *
 * @module
 */

/** The keys, as OptiPod has them. */
export const OPTIPOD_KEYS: readonly string[] = [
  "dryRun",
  "metricsProvider",
  "prometheusURL",
  "leaderElection",
  "reconciliationInterval",
];
