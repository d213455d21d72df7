/**
 * The controller's settings that the market needs.
 *
 * @module
 */
import type { MetricsConfig } from "./metrics_demand/metric_question.ts";
import type { ServedResize } from "./start_check.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";

/** Settings that the market clock takes as they are. */
const AS_THEY_ARE = [
  "market",
  "managementPolicy",
  "burstFactor",
  "leastCeiling",
  "priorityMultipliers",
  "quotaHeadroom",
  "dryRun",
  "maxResizesPerSecond",
  "maxNewAllocationsPerSecond",
  "maxStep",
] as const satisfies readonly (keyof ControllerSettings)[];

/** Settings and findings about the server that it takes in another form. */
export interface OtherConfig extends Pick<ControllerSettings, "excludedNamespaces"> {
  /** Where and what pods' metrics are asked. */
  readonly metrics: MetricsConfig;
  /** False: the server does not serve `pods/resize`, and no limit is changed. */
  readonly resizeServed: boolean;
  readonly minResizeIntervalMs: number;
  /** An agent of which no renewal was seen for this long is silent. */
  readonly agentSilentAfterMs: number;
}

/** Settings of the market clock in the controller: those of its settings file, and the server's. */
export type MarketConfig = Pick<ControllerSettings, typeof AS_THEY_ARE[number]> & OtherConfig;

/** A view of settings and server that may change: each property is read when it is asked for. */
export function marketConfig(
  settings: () => ControllerSettings,
  resize: Pick<ServedResize, "served"> = { served: true },
): MarketConfig {
  const others: { readonly [K in keyof OtherConfig]: () => OtherConfig[K] } = {
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
  const getters = [
    ...AS_THEY_ARE.map((key) => [key, () => settings()[key]] as const),
    ...Object.entries(others),
  ];
  const view = getters.map(([key, get]) => [key, { enumerable: true, get }] as const);
  return Object.defineProperties({}, Object.fromEntries(view)) as MarketConfig;
}

const DEFAULTS = CONTROLLER_SETTINGS.parse({});

/** The settings that hold where nothing else is said. */
export const DEFAULT_MARKET_CONFIG: MarketConfig = { ...marketConfig(() => DEFAULTS) };
