/**
 * What the market clock needs of the controller's settings.
 *
 * @module
 */
import type { MetricsConfig } from "./metrics_demand/metric_question.ts";
import type { ServedResize } from "./start_check.ts";
import type { ControllerSettings } from "./settings.ts";

/** Settings that the market clock takes as they are. */
export type MarketSetting =
  | "market"
  | "managementPolicy"
  | "excludedNamespaces"
  | "burstFactor"
  | "leastCeiling"
  | "priorityMultipliers"
  | "quotaHeadroom"
  | "dryRun"
  | "maxResizesPerSecond"
  | "maxNewAllocationsPerSecond"
  | "maxStep";

/** Settings of the market clock in the controller: those of its settings file, and the server's. */
export interface MarketConfig extends Pick<ControllerSettings, MarketSetting> {
  /** Where and what pods' metrics are asked. */
  readonly metrics: MetricsConfig;
  /** False: the server does not serve `pods/resize`, and no limit is changed. */
  readonly resizeServed: boolean;
  /** Least time between two changes of a pod's limits. */
  readonly minResizeIntervalMs: number;
  /** An agent of which no renewal was seen for this long is silent. */
  readonly agentSilentAfterMs: number;
}

/** The settings that hold where nothing else is said: the defaults of the table. */
export const DEFAULT_MARKET_CONFIG: MarketConfig = {
  market: true,
  managementPolicy: "OptOut",
  excludedNamespaces: ["kube-system", "kube-public", "kube-node-lease", "mbcas-system"],
  burstFactor: 8,
  leastCeiling: 500,
  priorityMultipliers: [],
  quotaHeadroom: 1,
  metrics: { server: null, queries: new Map(), intervalMs: 15_000, staleAfterMs: 120_000 },
  dryRun: false,
  resizeServed: true,
  maxResizesPerSecond: 50,
  maxNewAllocationsPerSecond: 50,
  minResizeIntervalMs: 1000,
  maxStep: null,
  agentSilentAfterMs: 300_000,
};

/** A view of settings and server that may change: each property is read when it is asked for. */
export function marketConfig(
  settings: () => ControllerSettings,
  resize: Pick<ServedResize, "served"> = { served: true },
): MarketConfig {
  const others: {
    readonly [K in Exclude<keyof MarketConfig, MarketSetting> | "excludedNamespaces"]: () =>
      MarketConfig[K];
  } = {
    // Never its own.
    excludedNamespaces: () => [
      ...new Set([...settings().excludedNamespaces, settings().namespace]),
    ],
    resizeServed: () => resize.served,
    minResizeIntervalMs: () => settings().minResizeInterval,
    agentSilentAfterMs: () => settings().agentSilentAfter,
    metrics() {
      const { prometheusURL, metricQueries, metricInterval, metricStaleAfter } = settings();
      return {
        server: prometheusURL,
        queries: metricQueries,
        intervalMs: metricInterval,
        staleAfterMs: metricStaleAfter,
      };
    },
  };
  const valueOf = (key: keyof MarketConfig): unknown =>
    key in others ? others[key as keyof typeof others]() : settings()[key as MarketSetting];
  const view = Object.keys(DEFAULT_MARKET_CONFIG).map((key) =>
    [key, { enumerable: true, get: () => valueOf(key as keyof MarketConfig) }] as const
  );
  return Object.defineProperties({}, Object.fromEntries(view)) as MarketConfig;
}
