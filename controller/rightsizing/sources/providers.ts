/**
 * The providers of usage that policies may name, a row for each.
 *
 * @module
 */
import * as z from "zod";
import type { UsageProvider } from "../../../shared/api/optimization_policy.ts";
import type { SettingValues } from "../../../shared/config/setting.ts";
import type { UsageConnections, UsageProblem, UsageSource } from "../ports.ts";
import { connectCustomUsage, CUSTOM_SETTINGS } from "./custom_usage.ts";
import { SAMPLER_SETTINGS } from "./metrics_server/usage_sampler.ts";
import { connectPrometheusUsage, type PrometheusSettings } from "./prometheus_usage.ts";

const PROVIDER_SHAPE = { ...SAMPLER_SETTINGS, ...CUSTOM_SETTINGS };

/** The settings that only sources read, in the order of the generated docs. */
export const PROVIDER_SETTINGS: z.ZodObject<typeof PROVIDER_SHAPE> = z.object(PROVIDER_SHAPE);

/** All settings that sources read. Those of Prometheus are the market's, too. */
export type UsageSettings = PrometheusSettings & SettingValues<typeof PROVIDER_SETTINGS>;

/**
 * Connects the source of each provider, or returns why there is none. `name`: of a custom source. Only these rows
 * know the files of sources with a history.
 */
export const PROVIDERS: Readonly<
  Record<
    UsageProvider,
    (
      connections: UsageConnections<UsageSettings>,
      name?: string,
    ) => UsageSource | UsageProblem
  >
> = {
  prometheus: connectPrometheusUsage,
  "metrics-server": ({ sampler }) => sampler,
  custom: connectCustomUsage,
};
