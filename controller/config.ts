/**
 * What the market clock needs of the controller's settings.
 *
 * @module
 */
import type { PriorityStep } from "./allocation/bounds/priority_multiplier.ts";
import type { MetricsConfig } from "./metrics_demand/metric_question.ts";
import type { ServedResize } from "./served_resize.ts";
import type { ControllerSettings } from "./settings.ts";

/** Settings of the market clock in the controller. */
export interface MarketConfig {
  /** False: every pod gets its original limits back and keeps them. */
  readonly market: boolean;
  /** `OptIn` takes only namespaces labelled `mbcas.io/managed=true`. */
  readonly managementPolicy: "OptOut" | "OptIn";
  readonly excludedNamespaces: readonly string[];
  /** Ceiling = original limit × this, unless namespace or annotation say otherwise; 1 = never above. */
  readonly burstFactor: number;
  /** Least ceiling where the burst factor is above 1 and no namespace sets it, millicores. */
  readonly leastCeiling: number;
  /** Multipliers by priority, ascending; empty: the built-in rule. */
  readonly priorityMultipliers: readonly PriorityStep[];
  /** Pods of the namespace's largest original limit for which its quota keeps room. */
  readonly quotaHeadroom: number;
  /** Where and what pods' metrics are asked. */
  readonly metrics: MetricsConfig;
  /** Everything but the patch. */
  readonly dryRun: boolean;
  /** False: the server does not serve `pods/resize`, and no limit is changed. */
  readonly resizeServed: boolean;
  readonly maxResizesPerSecond: number;
  readonly maxNewAllocationsPerSecond: number;
  /** Least time between two changes of a pod's limits. */
  readonly minResizeIntervalMs: number;
  /** Largest factor of one change of a limit; null: any. */
  readonly maxStep: number | null;
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
  return {
    get resizeServed() {
      return resize.served;
    },
    get market() {
      return settings().market;
    },
    get managementPolicy() {
      return settings().managementPolicy;
    },
    get excludedNamespaces() {
      return settings().excludedNamespaces;
    },
    get burstFactor() {
      return settings().burstFactor;
    },
    get leastCeiling() {
      return settings().leastCeiling;
    },
    get priorityMultipliers() {
      return settings().priorityMultipliers;
    },
    get quotaHeadroom() {
      return settings().quotaHeadroom;
    },
    get metrics() {
      const { prometheusURL, metricQueries, metricInterval, metricStaleAfter } = settings();
      return {
        server: prometheusURL,
        queries: metricQueries,
        intervalMs: metricInterval,
        staleAfterMs: metricStaleAfter,
      };
    },
    get dryRun() {
      return settings().dryRun;
    },
    get maxResizesPerSecond() {
      return settings().maxResizesPerSecond;
    },
    get maxNewAllocationsPerSecond() {
      return settings().maxNewAllocationsPerSecond;
    },
    get minResizeIntervalMs() {
      return settings().minResizeInterval;
    },
    get maxStep() {
      return settings().maxStep;
    },
    get agentSilentAfterMs() {
      return settings().agentSilentAfter;
    },
  };
}
