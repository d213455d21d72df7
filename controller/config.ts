/**
 * The controller's settings that the market needs.
 *
 * @module
 */
import type { MetricsConfig } from "./metrics_demand/metric_question.ts";
import type { ServedResize } from "./start_check.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";

/** Settings that the market reads unchanged. */
const UNCHANGED = [
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

/** Settings and findings about the server that the market reads in another form. */
export interface DerivedConfig extends Pick<ControllerSettings, "excludedNamespaces"> {
  readonly metrics: MetricsConfig;
  /** False: the server does not serve `pods/resize`, so that no limit is changed. */
  readonly resizeServed: boolean;
  readonly minResizeIntervalMs: number;
  /** An agent that has not renewed its Lease for this long is silent. */
  readonly agentSilentAfterMs: number;
}

/** The controller's settings that the market reads, and findings about the server. */
export type MarketConfig = Pick<ControllerSettings, typeof UNCHANGED[number]> & DerivedConfig;

/** A view of the present settings: each property is computed when it is read. */
export function marketConfig(
  settings: () => ControllerSettings,
  resize: Pick<ServedResize, "served"> = { served: true },
): MarketConfig {
  const derived: { readonly [K in keyof DerivedConfig]: () => DerivedConfig[K] } = {
    // The installation's own namespace is always excluded.
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
    ...UNCHANGED.map((key) => [key, () => settings()[key]] as const),
    ...Object.entries(derived),
  ];
  const view = getters.map(([key, get]) => [key, { enumerable: true, get }] as const);
  return Object.defineProperties({}, Object.fromEntries(view)) as MarketConfig;
}

const DEFAULTS = CONTROLLER_SETTINGS.parse({});

/** The defaults of all settings. */
export const DEFAULT_MARKET_CONFIG: MarketConfig = { ...marketConfig(() => DEFAULTS) };
