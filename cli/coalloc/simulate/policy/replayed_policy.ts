/**
 * What a replay needs of an `OptimizationPolicy`'s spec, with its defaults.
 *
 * @module
 */
import { z } from "zod";
import type { ResourceBounds } from "../../../../shared/rightsizing/policy_spec.ts";
import { parseBytes, parseCPU } from "../../../../shared/quantity.ts";
import type { ReplayedPolicy } from "../../../../simulation/rightsizing/replay_policy.ts";

/** A policy, or what is wrong with it: a sentence for each field. */
export interface PolicyReading {
  /** Absent exactly where there are faults. */
  readonly policy?: ReplayedPolicy;
  readonly faults: readonly string[];
}

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

function duration(leastMs: number): z.ZodType<number> {
  return z.string().transform((text, context) => {
    const parts = DURATION.test(text) ? [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)] : [];
    const ms = parts.reduce(
      (sum, [, count, unit = ""]) => sum + Number(count) * (MS_PER_UNIT[unit] ?? 0),
      0,
    );
    if (parts.length > 0 && ms >= leastMs) return ms;
    context.addIssue(`must be a duration of at least ${leastMs} ms, for instance 24h or 7d`);
    return z.NEVER;
  });
}

function quantity(parse: (text: string) => number): z.ZodType<number> {
  return z.union([z.string(), z.number()]).transform((written, context) => {
    try {
      const value = parse(String(written));
      if (value > 0) return value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    context.addIssue("must be a quantity above 0, for instance 500m or 1Gi");
    return z.NEVER;
  });
}

function bounds(parse: (text: string) => number): z.ZodType<ResourceBounds> {
  return z.object({ min: quantity(parse), max: quantity(parse) })
    .refine(({ min, max }) => min <= max, "must have a min of at most its max");
}

const schema = z.object({
  mode: z.enum(["Auto", "Recommend", "Disabled"]),
  metricsConfig: z.object({
    rollingWindow: duration(1).prefault("24h"),
    percentile: z.enum(["P50", "P90", "P95", "P99"]).default("P90"),
    safetyFactor: z.number().min(1).max(10).default(1.2),
    minSamples: z.int().min(1).default(10),
    metricsServer: z.object({ minSamplesRequired: z.int().min(1).optional() }).optional(),
  }),
  resourceBounds: z.object({ cpu: bounds(parseCPU), memory: bounds(parseBytes) }),
  updateStrategy: z.object({
    updateRequestsOnly: z.boolean().default(true),
    limitConfig: z.object({
      cpuLimitMultiplier: z.number().min(1).max(10).default(1),
      memoryLimitMultiplier: z.number().min(1).max(10).default(1.1),
    }).prefault({}),
    changeThresholdPercent: z.int().min(0).max(100).default(10),
    cooldown: duration(0).prefault("30m"),
  }).prefault({}),
  reconciliationInterval: duration(10_000).prefault("5m"),
});

/** The parts that a replay needs; whom the policy is for, and where usage comes from, are no matter. */
export function readReplayedPolicy(raw: unknown): PolicyReading {
  const { data, error } = schema.safeParse(raw);
  if (data === undefined) {
    return {
      faults: error.issues.map(({ path, message }) => `${["spec", ...path].join(".")}: ${message}`),
    };
  }
  const { mode, metricsConfig, resourceBounds, updateStrategy, reconciliationInterval } = data;
  const { rollingWindow, metricsServer, percentile, safetyFactor, minSamples } = metricsConfig;
  const { limitConfig, cooldown, ...change } = updateStrategy;
  return {
    faults: [],
    policy: {
      mode,
      windowMs: rollingWindow,
      percentile,
      safetyFactor,
      minSamples: metricsServer?.minSamplesRequired ?? minSamples,
      bounds: resourceBounds,
      intervalMs: reconciliationInterval,
      updateStrategy: {
        ...change,
        cooldownMs: cooldown,
        limitMultipliers: {
          cpu: limitConfig.cpuLimitMultiplier,
          memory: limitConfig.memoryLimitMultiplier,
        },
      },
    },
  };
}
