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
    description: "The namespace of the installation, with its leases and settings",
  }),
  identity: setting("identity", {
    kind: optionalKind(textKind("a name")),
    default: "",
    description: "The name in the leader's lease, completed by a random part",
  }),
  podIP: setting("podIP", {
    kind: optionalKind(addressKind),
    default: "",
    description: "The address of this pod, to which the Service of the webhook leads",
  }),
  configMap: setting("configMap", {
    kind: optionalKind(textKind("a ConfigMap's name")),
    default: SETTINGS.name,
    description:
      "The ConfigMap with the key config.yaml, which is followed with the keys beside it while " +
      "running; empty: none",
  }),
  ...SCOPE_SETTINGS.shape,
  burstFactor: setting("market.burstFactor", {
    kind: numberKind({ min: 1, max: 1000 }),
    default: "8",
    description: "Ceiling of a limit as a multiple of the user's own; 1 = never above; see " +
      "market.leastCeiling",
    live: true,
  }),
  leastCeiling: setting("market.leastCeiling", {
    kind: cpuKind,
    default: "500m",
    description:
      "Ceiling of limits for which the burst factor gives less, since a single request " +
      "runs into a small one; not where that is 1, or a namespace sets its own; 0: none",
    live: true,
  }),
  idleCPU: IDLE_CPU_SETTING,
  priorityMultipliers: setting("market.priorityMultipliers", {
    kind: priorityTableKind,
    default: "",
    description: "Factors on weights by the pods' priority, instead of the built-in ones: " +
      "from-priority:factor, for instance 0:1,1000:2,100000:4; a list in the file",
    live: true,
  }),
  quotaHeadroom: setting("market.quotaHeadroom", {
    kind: numberKind({ max: 1000 }),
    default: "1",
    description:
      "Pods of the largest original limit for which a namespace's quota on limits.cpu keeps " +
      "room: as many as one namespace adds at once by a rollout, an HPA or a Job",
    live: true,
  }),
  prometheusURL: setting("metrics.prometheusURL", {
    kind: optionalKind(serverURLKind),
    default: "",
    description: "The Prometheus that is asked what pods could use, and have used; empty: none",
    live: true,
  }),
  prometheusLogin: setting("metrics.prometheusLogin", {
    kind: loginFilesKind,
    default: "",
    description:
      "Files with the login to that Prometheus, for instance of a Secret mounted below " +
      "/etc/mbcas; empty: it answers without one",
  }),
  prometheusHeaders: setting("metrics.prometheusHeaders", {
    kind: requestHeadersKind,
    default: "",
    description:
      "Headers of each request to that Prometheus, for instance X-Scope-OrgID with the " +
      "tenant that Mimir or Cortex is to answer for. In the file only, and no secrets: those are " +
      "the login's",
    onlyBy: "file",
  }),
  prometheusMatchers: setting("metrics.prometheusMatchers", {
    kind: labelMatchersKind,
    default: "",
    description: "Matchers of labels that go with each question about usage, for instance " +
      'cluster="prod" where that Prometheus knows several clusters: without, pods of the same ' +
      "name in another one are taken for this one's. metrics.queries say their own",
    live: true,
  }),
  metricQueries: setting("metrics.queries", {
    kind: queryTableKind,
    default: "",
    description: "Queries that pods may name in the annotation mbcas.io/demand-query: the CPU " +
      "cores that one pod could use. In the file only",
    live: true,
    onlyBy: "file",
  }),
  metricInterval: setting("metrics.interval", {
    kind: durationKind({ minMs: 1000, maxMs: 600_000 }),
    default: "15s",
    description: "Time between two answers to the same query",
    live: true,
  }),
  metricStaleAfter: setting("metrics.staleAfter", {
    kind: durationKind({ minMs: 2000, maxMs: 3_600_000 }),
    default: "2m",
    description: "An answer that is older is ignored; two intervals at least",
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
    description: "Changes of limits per second in the whole cluster",
  }),
  maxNewAllocationsPerSecond: setting("controller.maxNewAllocationsPerSecond", {
    kind: numberKind({ min: 0.01, max: 10_000 }),
    default: "50",
    description: "Pods that enter the market per second",
  }),
  minResizeInterval: setting("controller.minResizeInterval", {
    kind: durationKind({ minMs: 0, maxMs: 600_000 }),
    default: "1s",
    description:
      "Least time between two changes of a pod's limits, but for its own ones coming back",
    live: true,
  }),
  maxStep: setting("controller.maxStep", {
    kind: optionalKind(numberKind({ min: 1.1, max: 1000 })),
    default: "",
    description: "Largest factor of one change of a limit, up or down, but for own ones coming " +
      "back: with 1.5 a limit of 300m becomes 450m at most and 200m at least; empty: any",
    live: true,
  }),
  agentSilentAfter: setting("controller.agentSilentAfter", {
    kind: durationKind({ minMs: 5000, maxMs: 86_400_000 }),
    default: "5m",
    description:
      "When a node's agent has not renewed its lease for this long, its pods get their original limits back; " +
      "two of the agents' heartbeats at least",
  }),
  listen: setting("controller.listen", {
    kind: listenKind,
    default: `:${CONTROLLER_PORT}`,
    description: "Where /healthz, /readyz and /metrics are served",
  }),
  stopGrace: setting("controller.stopGrace", {
    kind: durationKind({ minMs: 1000, maxMs: 300_000 }),
    default: "10s",
    description: "Time for a clean end after SIGTERM; requests under way get half of it",
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
export const OTHER_SECTIONS: readonly string[] = ["agent"];
