/**
 * A pod that names a query: what a metric says that it could use.
 *
 * @module
 */
import { demandParts } from "../../metrics_demand/metric_fact.ts";
import type { BidRule } from "./bid_rule.ts";

/** A demand for each container; without an answer that counts there is none. */
export const metricDemand: BidRule = ({ pod, metric }) => {
  if (metric === undefined || "ignored" in metric) return [];
  if ("missing" in metric) return [{ reason: "MetricMissing", message: metric.missing }];
  const { demand: said, source, untilMs } = metric;
  const parts = typeof said === "number" ? demandParts(pod, said) : said;
  return [...parts].map(([container, demand]) => {
    const message = `${container} could use ${demand}m: ${source}`;
    return { reason: "MetricDemand", container, demand, message, untilMs } as const;
  });
};
