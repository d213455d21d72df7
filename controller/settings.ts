/**
 * The controller's settings.
 *
 * @module
 */
import { CONTROLLER_PORT, DEFAULT_NAMESPACE, SETTINGS } from "../shared/installation.ts";
import * as z from "zod";
import {
  addressKind,
  cpuKind,
  durationKind,
  type ListenAddress,
  listenKind,
  numberKind,
  optionalKind,
  parseAddress,
  textKind,
} from "../shared/config/kinds.ts";
import type { Effective } from "../shared/config/load.ts";
import {
  agentLeaseMs,
  DRY_RUN_SETTING,
  HEARTBEAT_SETTING,
  IDLE_CPU_SETTING,
  PROGRAM_SETTINGS,
  SCOPE_SETTINGS,
} from "../shared/config/schema.ts";
import {
  labelMatchersKind,
  loginFilesKind,
  requestHeadersKind,
  serverURLKind,
} from "../shared/config/server_kinds.ts";
import { setting, settingOf, type SettingValues } from "../shared/config/setting.ts";
import { PLACEMENT_SETTINGS, placementFaults } from "../shared/placement/settings.ts";
import { DASHBOARD_SETTINGS } from "./dashboard/settings.ts";
import { priorityTableKind } from "./allocation/bounds/priority_multiplier.ts";
import { queryTableKind } from "./metrics_demand/query_template.ts";
import { RIGHTSIZING_SETTINGS } from "./rightsizing/settings.ts";
import { WEBHOOK_SETTINGS } from "./webhook/settings.ts";

const CONTROLLER_SHAPE = {
  ...PROGRAM_SETTINGS.shape,
  namespace: setting("namespace", {
    kind: textKind("a namespace"),
    default: DEFAULT_NAMESPACE,
    description: "Namespace of the installation, with its Leases and settings",
  }),
  identity: setting("identity", {
    kind: optionalKind(textKind("a name")),
    default: "",
    description:
      "Name of this controller in the leader's Lease. The controller appends a random part",
  }),
  podIP: setting("podIP", {
    kind: optionalKind(addressKind),
    default: "",
    description:
      "Address of this pod. While this controller leads, the Service of the webhook points to it",
  }),
  configMap: setting("configMap", {
    kind: optionalKind(textKind("a ConfigMap's name")),
    default: SETTINGS.name,
    description:
      "ConfigMap with the key config.yaml. The controller follows it, and the keys beside " +
      "config.yaml, while it runs. Empty: none",
  }),
  ...SCOPE_SETTINGS.shape,
  burstFactor: setting("market.burstFactor", {
    kind: numberKind({ min: 1, max: 1000 }),
    default: "8",
    description:
      "Ceiling of a limit as a multiple of the original limit. 1: not above the original limit. " +
      "market.leastCeiling gives small limits a higher ceiling",
    live: true,
  }),
  leastCeiling: setting("market.leastCeiling", {
    kind: cpuKind,
    default: "500m",
    description:
      "Minimum ceiling, since a single request is throttled under a smaller limit. It does not " +
      "apply if the burst factor is 1, or set by the namespace. 0: none",
    live: true,
  }),
  idleCPU: IDLE_CPU_SETTING,
  priorityMultipliers: setting("market.priorityMultipliers", {
    kind: priorityTableKind,
    default: "",
    description:
      "Factors on the pods' weights by priority, instead of the built-in ones: pairs of the " +
      "lowest priority and its factor, for instance 0:1,1000:2,100000:4; a list in the file",
    live: true,
  }),
  quotaHeadroom: setting("market.quotaHeadroom", {
    kind: numberKind({ max: 1000 }),
    default: "1",
    description:
      "Number of pods for which the market keeps a namespace's quota on limits.cpu free, each " +
      "with the largest original limit there. Set it to the number of pods that a rollout, an " +
      "HPA or a Job adds to one namespace at once",
    live: true,
  }),
  prometheusURL: setting("metrics.prometheusURL", {
    kind: optionalKind(serverURLKind),
    default: "",
    description:
      "Prometheus that the controller queries for demand by a metric and for past usage. Empty: " +
      "none",
    live: true,
  }),
  prometheusLogin: setting("metrics.prometheusLogin", {
    kind: loginFilesKind,
    default: "",
    description:
      "Files with the login for that Prometheus, for instance from a Secret mounted below " +
      "/etc/mbcas. Empty: no login",
  }),
  prometheusHeaders: setting("metrics.prometheusHeaders", {
    kind: requestHeadersKind,
    default: "",
    description:
      "HTTP headers of each request to that Prometheus, for instance X-Scope-OrgID with the " +
      "tenant of Mimir or Cortex. In the file only. Put secrets into the files of " +
      "metrics.prometheusLogin instead",
    onlyBy: "file",
  }),
  prometheusMatchers: setting("metrics.prometheusMatchers", {
    kind: labelMatchersKind,
    default: "",
    description: "Label matchers that the controller adds to each query for usage, for instance " +
      'cluster="prod". Set them if that Prometheus stores several clusters: otherwise pods with ' +
      "the same name in another cluster count, too. The controller does not add them to " +
      "metrics.queries",
    live: true,
  }),
  metricQueries: setting("metrics.queries", {
    kind: queryTableKind,
    default: "",
    description:
      "PromQL queries by name, for the annotation mbcas.io/demand-query of pods. Each returns " +
      "the CPU cores that one pod could use. In the file only",
    live: true,
    onlyBy: "file",
  }),
  metricInterval: setting("metrics.interval", {
    kind: durationKind({ minMs: 1000, maxMs: 600_000 }),
    default: "15s",
    description: "Interval between two runs of the same query",
    live: true,
  }),
  metricStaleAfter: setting("metrics.staleAfter", {
    kind: durationKind({ minMs: 2000, maxMs: 3_600_000 }),
    default: "2m",
    description:
      "Maximum age of an answer, or two intervals if that is longer. The controller ignores " +
      "older answers",
    live: true,
  }),
  ...RIGHTSIZING_SETTINGS.shape,
  ...WEBHOOK_SETTINGS.shape,
  ...DASHBOARD_SETTINGS.shape,
  ...PLACEMENT_SETTINGS.shape,
  heartbeat: HEARTBEAT_SETTING,
  dryRun: DRY_RUN_SETTING,
  maxResizesPerSecond: setting("controller.maxResizesPerSecond", {
    kind: numberKind({ min: 0.01, max: 10_000 }),
    default: "50",
    description: "Maximum number of resizes per second in the whole cluster",
  }),
  maxNewAllocationsPerSecond: setting("controller.maxNewAllocationsPerSecond", {
    kind: numberKind({ min: 0.01, max: 10_000 }),
    default: "50",
    description: "Maximum number of pods per second that enter the market",
  }),
  minResizeInterval: setting("controller.minResizeInterval", {
    kind: durationKind({ minMs: 0, maxMs: 600_000 }),
    default: "1s",
    description: "Minimum time between two resizes of a pod. Restoring original limits is exempt",
    live: true,
  }),
  maxStep: setting("controller.maxStep", {
    kind: optionalKind(numberKind({ min: 1.1, max: 1000 })),
    default: "",
    description:
      "Maximum factor by which one resize changes a limit, up or down: with 1.5, a limit of " +
      "300m becomes at most 450m and at least 200m. Restoring original limits is exempt. Empty: " +
      "no maximum",
    live: true,
  }),
  agentSilentAfter: setting("controller.agentSilentAfter", {
    kind: durationKind({ minMs: 5000, maxMs: 86_400_000 }),
    default: "5m",
    description:
      "If an agent does not renew its Lease for this long, the pods of its node get their " +
      "original limits back. At least two heartbeats (agent.heartbeat)",
  }),
  listen: setting("controller.listen", {
    kind: listenKind,
    default: `:${CONTROLLER_PORT}`,
    description: "Address of /healthz, /readyz and /metrics",
  }),
  stopGrace: setting("controller.stopGrace", {
    kind: durationKind({ minMs: 1000, maxMs: 300_000 }),
    default: "10s",
    description: "Time for a graceful shutdown after SIGTERM. Requests in flight get half of it",
  }),
};

/** All settings, in the order in which they are shown. */
export const CONTROLLER_SETTINGS: z.ZodObject<typeof CONTROLLER_SHAPE> = z.object(CONTROLLER_SHAPE)
  .superRefine((values, context) => {
    const checks = [placementFaults(values), listenFaults(values), heartbeatFaults(values)];
    for (const message of checks.flat()) context.addIssue({ code: "custom", message });
  });

/** The values of the controller's settings. */
export type ControllerSettings = SettingValues<typeof CONTROLLER_SETTINGS>;

/** Hosts that mean all addresses. */
const ANY_HOST = ["0.0.0.0", "::"];

/** A message for each two servers with one port: the second would not come up. */
function listenFaults(
  { listen, webhook, webhookListen, dashboard, dashboardListen }: ControllerSettings,
): readonly string[] {
  const servers = [
    ["controller.listen", listen],
    ...(webhook ? [["webhook.listen", webhookListen]] as const : []),
    ...(dashboard ? [["dashboard.listen", dashboardListen]] as const : []),
  ] as const;
  return servers.flatMap(([key, address], index) =>
    servers.slice(index + 1).flatMap(([otherKey, otherAddress]) =>
      collide(parseAddress(address), parseAddress(otherAddress))
        ? [`${key} is ${address} and ${otherKey} is ${otherAddress}: give each a port of its own`]
        : []
    )
  );
}

function collide(one: ListenAddress, other: ListenAddress): boolean {
  const isOneHost = one.hostname === other.hostname ||
    ANY_HOST.includes(one.hostname) || ANY_HOST.includes(other.hostname);
  // Port 0 is a free one.
  return one.port === other.port && one.port !== 0 && isOneHost;
}

/** A message where agents would count as silent between two renewals of their leases. */
function heartbeatFaults({ heartbeat, agentSilentAfter }: ControllerSettings): readonly string[] {
  const leastMs = agentLeaseMs(heartbeat);
  if (agentSilentAfter >= leastMs) return [];
  return [
    `controller.agentSilentAfter is ${agentSilentAfter / 1000}s and agent.heartbeat is ` +
    `${heartbeat / 1000}s: make it ${leastMs / 1000}s at least, two heartbeats`,
  ];
}

/** The program as its `--help` presents it. */
export const CONTROLLER_PROGRAM = {
  name: "mbcas-controller",
  description: "Publishes the market's bounds and enforces its limits on pods.",
  schema: CONTROLLER_SETTINGS,
  despiteFaults: marketOffAlone,
} as const;

/**
 * With faults the controller starts for one purpose: a market that is off gives pods their original
 * limits back. All else that changes objects is off until a start without faults.
 */
function marketOffAlone(
  { values, origins, overridden }: Effective<typeof CONTROLLER_SETTINGS>,
): Effective<typeof CONTROLLER_SETTINGS> | undefined {
  if (values.market) return undefined;
  const { rightsizing, placement, webhook } = CONTROLLER_SETTINGS.shape;
  const switches = [rightsizing, placement, webhook].map((one) => settingOf(one).key);
  return {
    values: { ...values, rightsizing: false, placement: false, webhook: false },
    origins: new Map([
      ...origins,
      ...switches.map((key) => [key, { origin: "default", text: "off" }] as const),
    ]),
    overridden,
  };
}

/** Sections of the settings file that the agent checks. */
export const IGNORED_SECTIONS: readonly string[] = ["agent"];
