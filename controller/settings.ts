/**
 * The controller's table of settings.
 *
 * @module
 */
import {
  DRY_RUN_ROW,
  HEARTBEAT_ROW,
  IDLE_CPU_ROW,
  MARKET_ROW,
  PROGRAM_ROWS,
} from "../shared/config/program_rows.ts";
import type { Effective } from "../shared/config/effective_settings.ts";
import { labelMatchersKind } from "../shared/config/label_matchers_kind.ts";
import { loginFilesKind } from "../shared/config/login_files.ts";
import { requestHeadersKind } from "../shared/config/request_headers_kind.ts";
import { serverURLKind } from "../shared/config/server_url_kind.ts";
import type { Setting, SettingValues } from "../shared/config/setting.ts";
import {
  addressKind,
  choiceKind,
  cpuKind,
  durationKind,
  listenKind,
  numberKind,
  optionalKind,
  termsKind,
  textKind,
} from "../shared/config/setting_kinds.ts";
import { PLACEMENT_ROWS, placementFaults } from "../shared/placement/settings.ts";
import { priorityTableKind } from "./allocation/bounds/priority_multiplier.ts";
import { heartbeatFaults } from "./heartbeat_faults.ts";
import { listenFaults } from "./listen_faults.ts";
import { queryTableKind } from "./metrics_demand/query_template.ts";
import { RIGHTSIZING_ROWS } from "./rightsizing/settings.ts";
import { WEBHOOK_ROWS } from "./webhook/settings.ts";

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** All that can be set, in the order in which it is shown. */
export const CONTROLLER_SETTINGS = {
  ...PROGRAM_ROWS,
  namespace: row({
    key: "namespace",
    flag: "--namespace",
    env: "POD_NAMESPACE",
    default: "mbcas-system",
    description: "The namespace of the installation, with its leases and settings",
    kind: textKind("a namespace"),
  }),
  identity: row({
    key: "identity",
    flag: "--identity",
    env: "POD_NAME",
    default: "",
    description: "The name in the leader's lease, completed by a random part",
    kind: optionalKind(textKind("a name")),
  }),
  podIP: row({
    key: "podIP",
    flag: "--pod-ip",
    env: "POD_IP",
    default: "",
    description: "The address of this pod, to which the Service of the webhook leads",
    kind: optionalKind(addressKind),
  }),
  configMap: row({
    key: "configMap",
    flag: "--config-map",
    env: "MBCAS_CONFIG_MAP",
    default: "mbcas-config",
    description:
      "The ConfigMap with the key config.yaml, which is followed with the keys beside it while " +
      "running; empty: none",
    kind: optionalKind(textKind("a ConfigMap's name")),
  }),
  market: MARKET_ROW,
  managementPolicy: row({
    key: "market.managementPolicy",
    flag: "--management-policy",
    env: "MBCAS_MANAGEMENT_POLICY",
    default: "OptOut",
    description: "OptIn takes only pods of namespaces labelled mbcas.io/managed=true",
    kind: choiceKind(["OptOut", "OptIn"]),
    live: true,
  }),
  excludedNamespaces: row({
    key: "market.excludedNamespaces",
    flag: "--excluded-namespaces",
    env: "MBCAS_EXCLUDED_NAMESPACES",
    default: "kube-system,kube-public,kube-node-lease,mbcas-system",
    description: "Namespaces that the market does not manage; a list in the file",
    kind: termsKind("names of namespaces, separated by commas", NAME),
    live: true,
  }),
  burstFactor: row({
    key: "market.burstFactor",
    flag: "--burst-factor",
    env: "MBCAS_BURST_FACTOR",
    default: "8",
    description: "Ceiling of a limit as a multiple of the user's own; 1 = never above; see " +
      "market.leastCeiling",
    kind: numberKind({ least: 1, most: 1000 }),
    live: true,
  }),
  leastCeiling: row({
    key: "market.leastCeiling",
    flag: "--least-ceiling",
    env: "MBCAS_LEAST_CEILING",
    default: "500m",
    description:
      "Ceiling of limits for which the burst factor gives less, since a single request " +
      "runs into a small one; not where that is 1, or a namespace sets its own; 0: none",
    kind: cpuKind,
    live: true,
  }),
  idleCPU: IDLE_CPU_ROW,
  priorityMultipliers: row({
    key: "market.priorityMultipliers",
    flag: "--priority-multipliers",
    env: "MBCAS_PRIORITY_MULTIPLIERS",
    default: "",
    description: "Factors on weights by the pods' priority, instead of the built-in ones: " +
      "from-priority:factor, for instance 0:1,1000:2,100000:4; a list in the file",
    kind: priorityTableKind,
    live: true,
  }),
  quotaHeadroom: row({
    key: "market.quotaHeadroom",
    flag: "--quota-headroom",
    env: "MBCAS_QUOTA_HEADROOM",
    default: "1",
    description:
      "Pods of the largest original limit for which a namespace's quota on limits.cpu keeps " +
      "room: as many as one namespace adds at once by a rollout, an HPA or a Job",
    kind: numberKind({ most: 1000 }),
    live: true,
  }),
  prometheusURL: row({
    key: "metrics.prometheusURL",
    flag: "--prometheus-url",
    env: "MBCAS_PROMETHEUS_URL",
    default: "",
    description: "The Prometheus that is asked what pods could use, and have used; empty: none",
    kind: optionalKind(serverURLKind),
    live: true,
    aliases: ["prometheusURL"],
  }),
  prometheusLogin: row({
    key: "metrics.prometheusLogin",
    flag: "--prometheus-login",
    env: "MBCAS_PROMETHEUS_LOGIN",
    default: "",
    description:
      "Files with the login to that Prometheus, for instance of a Secret mounted below " +
      "/etc/mbcas; empty: it answers without one",
    kind: loginFilesKind,
  }),
  prometheusHeaders: row({
    key: "metrics.prometheusHeaders",
    default: "",
    description:
      "Headers of each request to that Prometheus, for instance X-Scope-OrgID with the " +
      "tenant that Mimir or Cortex is to answer for. In the file only, and no secrets: those are " +
      "the login's",
    kind: requestHeadersKind,
  }),
  prometheusMatchers: row({
    key: "metrics.prometheusMatchers",
    flag: "--prometheus-matchers",
    env: "MBCAS_PROMETHEUS_MATCHERS",
    default: "",
    description: "Matchers of labels that go with each question about usage, for instance " +
      'cluster="prod" where that Prometheus knows several clusters: without, pods of the same ' +
      "name in another one are taken for this one's. metrics.queries say their own",
    kind: labelMatchersKind,
    live: true,
  }),
  metricQueries: row({
    key: "metrics.queries",
    default: "",
    description: "Queries that pods may name in the annotation mbcas.io/demand-query: the CPU " +
      "cores that one pod could use. In the file only",
    kind: queryTableKind,
    live: true,
  }),
  metricInterval: row({
    key: "metrics.interval",
    flag: "--metric-interval",
    env: "MBCAS_METRIC_INTERVAL",
    default: "15s",
    description: "Time between two answers to the same query",
    kind: durationKind({ leastMs: 1000, mostMs: 600_000 }),
    live: true,
  }),
  metricStaleAfter: row({
    key: "metrics.staleAfter",
    flag: "--metric-stale-after",
    env: "MBCAS_METRIC_STALE_AFTER",
    default: "2m",
    description: "An answer that is older is ignored; two intervals at least",
    kind: durationKind({ leastMs: 2000, mostMs: 3_600_000 }),
    live: true,
  }),
  ...RIGHTSIZING_ROWS,
  ...WEBHOOK_ROWS,
  ...PLACEMENT_ROWS,
  heartbeat: HEARTBEAT_ROW,
  dryRun: DRY_RUN_ROW,
  maxResizesPerSecond: row({
    key: "controller.maxResizesPerSecond",
    flag: "--max-resizes-per-second",
    env: "MBCAS_MAX_RESIZES_PER_SECOND",
    default: "50",
    description: "Changes of limits per second in the whole cluster",
    kind: numberKind({ least: 0.01, most: 10_000 }),
  }),
  maxNewAllocationsPerSecond: row({
    key: "controller.maxNewAllocationsPerSecond",
    flag: "--max-new-allocations-per-second",
    env: "MBCAS_MAX_NEW_ALLOCATIONS_PER_SECOND",
    default: "50",
    description: "Pods that enter the market per second",
    kind: numberKind({ least: 0.01, most: 10_000 }),
  }),
  minResizeInterval: row({
    key: "controller.minResizeInterval",
    flag: "--min-resize-interval",
    env: "MBCAS_MIN_RESIZE_INTERVAL",
    default: "1s",
    description:
      "Least time between two changes of a pod's limits, but for its own ones coming back",
    kind: durationKind({ leastMs: 0, mostMs: 600_000 }),
    live: true,
  }),
  maxStep: row({
    key: "controller.maxStep",
    flag: "--max-step",
    env: "MBCAS_MAX_STEP",
    default: "",
    description: "Largest factor of one change of a limit, up or down, but for own ones coming " +
      "back: with 1.5 a limit of 300m becomes 450m at most and 200m at least; empty: any",
    kind: optionalKind(numberKind({ least: 1.1, most: 1000 })),
    live: true,
  }),
  agentSilentAfter: row({
    key: "controller.agentSilentAfter",
    flag: "--agent-silent-after",
    env: "MBCAS_AGENT_SILENT_AFTER",
    default: "5m",
    description:
      "When a node's agent has not renewed its lease for this long, its pods get its pods' original limits back; " +
      "two of the agents' heartbeats at least",
    kind: durationKind({ leastMs: 5000, mostMs: 86_400_000 }),
  }),
  listen: row({
    key: "controller.listen",
    flag: "--listen",
    env: "MBCAS_CONTROLLER_LISTEN",
    default: ":8080",
    description: "Where /healthz, /readyz and /metrics are served",
    kind: listenKind,
    aliases: ["--metrics-addr", "--health-probe-addr", "metrics.port"],
    aliasNote: "one address serves metrics and probes, so that two different ones are an error, " +
      "as is 0",
  }),
  stopGrace: row({
    key: "controller.stopGrace",
    flag: "--stop-grace",
    env: "MBCAS_CONTROLLER_STOP_GRACE",
    default: "10s",
    description: "Time for a clean end after SIGTERM; requests under way get half of it",
    kind: durationKind({ leastMs: 1000, mostMs: 300_000 }),
  }),
};

/** The controller's settings. */
export type ControllerSettings = SettingValues<typeof CONTROLLER_SETTINGS>;

/** The program as its `--help` presents it. */
export const CONTROLLER_PROGRAM = {
  name: "mbcas-controller",
  description: "Publishes the market's bounds and enforces its limits on pods.",
  table: CONTROLLER_SETTINGS,
  check: (values: ControllerSettings) => [
    ...placementFaults(values),
    ...listenFaults(values),
    ...heartbeatFaults(values),
  ],
  despiteFaults: marketOffAlone,
} as const;

/**
 * With faults the controller starts for one purpose: a market that is off gives pods their original
 * limits back. What else changes objects is off until a start without faults.
 */
function marketOffAlone(
  { values, origins, overridden }: Effective<typeof CONTROLLER_SETTINGS>,
): Effective<typeof CONTROLLER_SETTINGS> | undefined {
  if (values.market) return undefined;
  const off = { rightsizing: false, placement: false, webhook: false };
  const rows = (Object.keys(off) as (keyof typeof off)[]).map((name) => CONTROLLER_SETTINGS[name]);
  return {
    values: { ...values, ...off },
    origins: new Map([
      ...origins,
      ...rows.map(({ key }) => [key, { origin: "default", text: "off" }] as const),
    ]),
    overridden,
  };
}

/** Sections of the settings file that the agent checks. */
export const OTHER_SECTIONS: readonly string[] = ["agent"];

/** Keeps the type of the value while the row is checked. */
function row<T>(setting: Setting<T>): Setting<T> {
  return setting;
}
