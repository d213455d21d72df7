/**
 * Names of settings: the rule by which flags and variables follow from a setting's key, and all names
 * that the rule does not give, those of OptiPod and Spotalis among them.
 *
 * @module
 */

/** How a setting may be set. */
export interface SettingNames {
  /** With its dashes, for instance `--burst-factor`; undefined: the file alone sets it. */
  readonly flag: string | undefined;
  /** The variable, for instance `MBCAS_BURST_FACTOR`. */
  readonly env: string | undefined;
  /**
   * Names under which others' manifests set it: a flag with its dashes, or a key of the file. A key in
   * no section may also be beside the file in a ConfigMap.
   */
  readonly aliases: readonly string[];
  /** A hint for users that know the aliases from elsewhere: a clause. */
  readonly aliasNote: string | undefined;
}

/** Sections that flags begin with, as their keys say little by themselves. */
const SECTIONS_IN_FLAGS: readonly string[] = ["log", "webhook", "dashboard"];

/** Prefixes of variables by section; those of placement are Spotalis'. */
const PREFIXES: Readonly<Record<string, string>> = { placement: "SPOTALIS_" };
const USUAL_PREFIX = "MBCAS_";

/** Prefixes of this product's variables: an unknown variable with one of them is misspelt. */
export const VARIABLE_PREFIXES: readonly string[] = [USUAL_PREFIX, ...Object.values(PREFIXES)];

/**
 * Names that deviate from the rule. A variable that is not here follows from the flag, so that a flag
 * that is here changes both.
 */
const DEVIATIONS: Readonly<Record<string, Partial<SettingNames>>> = {
  kubeconfig: { env: "KUBECONFIG" },
  namespace: { env: "POD_NAMESPACE" },
  identity: { env: "POD_NAME" },
  podIP: { env: "POD_IP" },
  nodeName: { env: "NODE_NAME" },
  "log.level": { aliases: ["logging.level"] },
  "log.format": { aliases: ["logging.format"] },
  "metrics.prometheusURL": { aliases: ["prometheusURL"] },
  "metrics.interval": { flag: "--metric-interval" },
  "metrics.staleAfter": { flag: "--metric-stale-after" },
  "rightsizing.dryRun": { flag: "--rightsizing-dry-run" },
  "rightsizing.workers": { flag: "--rightsizing-workers" },
  "rightsizing.provider": { flag: "--metrics-provider", aliases: ["metricsProvider"] },
  "rightsizing.interval": {
    flag: "--reconciliation-interval",
    aliases: ["reconciliationInterval"],
  },
  "controller.leaderElection": {
    flag: "--enable-leader-election",
    env: "MBCAS_LEADER_ELECTION",
    aliases: ["leaderElection", "controller.leaderElection.enabled"],
  },
  "controller.dryRun": { aliases: ["dryRun"] },
  "controller.listen": {
    env: "MBCAS_CONTROLLER_LISTEN",
    aliases: ["--metrics-addr", "--health-probe-addr", "metrics.port"],
    aliasNote: "one address serves metrics and probes: two different addresses are an error, and " +
      "so is 0",
  },
  "controller.stopGrace": { env: "MBCAS_CONTROLLER_STOP_GRACE" },
  "agent.listen": { env: "MBCAS_AGENT_LISTEN" },
  "agent.stopGrace": { env: "MBCAS_AGENT_STOP_GRACE" },
  "webhook.listen": { aliases: ["webhook.port"] },
  "webhook.certificateFolder": { aliases: ["webhook.certDir"] },
  "placement.enabled": { env: "MBCAS_PLACEMENT" },
  "placement.resyncPeriod": { aliases: ["controller.resyncPeriod"] },
  "placement.workers": {
    flag: "--placement-workers",
    env: "SPOTALIS_WORKERS",
    aliases: ["controller.workers"],
  },
  "placement.namespaceSelector": {
    flag: "--placement-namespace-selector",
    env: "SPOTALIS_NAMESPACE_SELECTOR",
    aliases: ["controller.namespaceSelector"],
  },
  "placement.nodeClassifier": { aliases: ["placement.nodeLabels", "nodeLabels"] },
  "placement.cooldown": { flag: "--placement-cooldown", env: "SPOTALIS_COOLDOWN" },
};

/** Sources of a setting, if not file, flag and variable: the file alone, or file and flag. */
export type SetOnlyBy = "file" | "flag";

/**
 * The names of a setting. A flag is the key without its section in kebab case, and for `enabled` the
 * section itself: `market.burstFactor` has `--burst-factor` and `MBCAS_BURST_FACTOR`,
 * `market.enabled` has `--market`.
 */
export function namesOf(key: string, onlyBy?: SetOnlyBy): SettingNames {
  const { aliases = [], aliasNote, ...deviation } = DEVIATIONS[key] ?? {};
  const [section = "", ...rest] = key.split(".");
  const isShort = rest.length > 0 && rest[0] !== "enabled" && !SECTIONS_IN_FLAGS.includes(section);
  const path = rest[0] === "enabled" ? [section] : isShort ? rest : [section, ...rest];
  const parts = path.flatMap((name) => name.split(/(?<=[a-z])(?=[A-Z])/));
  const flag = deviation.flag ?? `--${parts.join("-").toLowerCase()}`;
  const variable = flag.slice(2).replaceAll("-", "_").toUpperCase();
  return {
    flag: onlyBy === "file" ? undefined : flag,
    env: onlyBy === undefined
      ? deviation.env ?? `${PREFIXES[section] ?? USUAL_PREFIX}${variable}`
      : undefined,
    aliases,
    aliasNote,
  };
}

/**
 * Keys of OptiPod's configuration. In the settings file they are in no section; the controller's
 * settings say what each of them sets, and the agent ignores them.
 */
export const OPTIPOD_KEYS: readonly string[] = [
  "dryRun",
  "metricsProvider",
  "prometheusURL",
  "leaderElection",
  "reconciliationInterval",
];

/**
 * Spotalis' variables by name, with the variable of this product that replaces each; empty: none does. A
 * program that may not list its environment looks for them by name, to report them.
 */
export const SPOTALIS_VARIABLES: ReadonlyMap<string, string> = new Map([
  ["SPOTALIS_OPERATOR_NAMESPACE", ""],
  ["SPOTALIS_OPERATOR_READ_ONLY_MODE", "SPOTALIS_READ_ONLY_MODE"],
  ["SPOTALIS_LEADER_ELECTION_ENABLED", ""],
  ["SPOTALIS_LEADER_ELECTION_ID", ""],
  ["SPOTALIS_LEADER_ELECTION_LEASE_DURATION", ""],
  ["SPOTALIS_CONTROLLERS_MAX_CONCURRENT_RECONCILES", "SPOTALIS_WORKERS"],
  ["SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL", "SPOTALIS_RESYNC_PERIOD"],
  ["SPOTALIS_CONTROLLERS_WORKLOAD_COOLDOWN_PERIOD", "SPOTALIS_COOLDOWN"],
  ["SPOTALIS_CONTROLLERS_WORKLOAD_DISRUPTION_RETRY_INTERVAL", ""],
  ["SPOTALIS_CONTROLLERS_WORKLOAD_DISRUPTION_WINDOW_POLL_INTERVAL", ""],
  ["SPOTALIS_WEBHOOK_ENABLED", "MBCAS_WEBHOOK"],
  ["SPOTALIS_WEBHOOK_PORT", "MBCAS_WEBHOOK_LISTEN"],
  ["SPOTALIS_WEBHOOK_CERT_DIR", "MBCAS_WEBHOOK_CERTIFICATE_FOLDER"],
  ["SPOTALIS_METRICS_ENABLED", ""],
  ["SPOTALIS_METRICS_BIND_ADDRESS", "MBCAS_CONTROLLER_LISTEN"],
  ["SPOTALIS_LOGGING_LEVEL", "MBCAS_LOG_LEVEL"],
  ["SPOTALIS_LOGGING_FORMAT", "MBCAS_LOG_FORMAT"],
  ["SPOTALIS_HEALTH_ENABLED", ""],
  ["SPOTALIS_HEALTH_BIND_ADDRESS", ""],
]);
