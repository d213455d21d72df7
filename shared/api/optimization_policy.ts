/**
 * `OptimizationPolicy` (`optipod.io/v1alpha1`): which workloads are watched over hours, what is
 * recommended for them, and whether it is applied. The schema is what the API server checks, and what
 * a stored object is read by.
 *
 * @module
 */
import * as z from "zod";
import {
  durationField,
  labelSelectorSchema,
  orderRule,
  patternRule,
  positiveQuantity,
  withRules,
} from "./fields.ts";
import { policyStatusSchema } from "./policy_status.ts";

/** API group and version of policies and reports. */
export const OPTIPOD_GROUP_VERSION = "optipod.io/v1alpha1";

/** Most namespaces of a list; the server bounds the cost of rules by it. */
const MOST_NAMESPACES = 1000;

const namespace = withRules(z.string().max(63), {
  description: "Name of a namespace.",
  rules: [patternRule("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "must be the name of a namespace")],
});

const namespaces = z.array(namespace).max(MOST_NAMESPACES).default([]);

const kinds = z.array(z.enum(["Deployment", "StatefulSet", "DaemonSet"])).max(8).default([]);

const selector = withRules(
  z.object({
    namespaceSelector: labelSelectorSchema.optional().describe(
      "Labels of the namespaces.",
    ),
    workloadSelector: labelSelectorSchema.optional().describe(
      "Labels of the workloads themselves, not of their pods.",
    ),
    namespaces: z.object({
      allow: namespaces.describe("Only workloads of these namespaces; empty: of all namespaces."),
      deny: namespaces.describe("No workloads of these namespaces; takes precedence over allow."),
    }).optional().describe("Namespaces by name."),
    workloadTypes: z.object({
      include: kinds.describe("Only workloads of these kinds; empty: of all kinds."),
      exclude: kinds.describe("No workloads of these kinds; takes precedence over include."),
    }).optional().describe("Kinds of workloads. The rules can exclude all kinds."),
  }),
  {
    description: "Workloads that the policy matches: those that meet all given terms.",
    rules: [{
      rule: "has(self.namespaceSelector) || has(self.workloadSelector) || has(self.namespaces)",
      message: "must have at least one of namespaceSelector, workloadSelector and namespaces",
      holds: ({ namespaceSelector, workloadSelector, namespaces }) =>
        (namespaceSelector ?? workloadSelector ?? namespaces) !== undefined,
    }],
  },
);

const minSamples = z.int().min(1).max(100_000);

/** Providers of usage; `controller/rightsizing/sources/README.md` says how to add one. */
export const USAGE_PROVIDERS = ["prometheus", "metrics-server", "custom"] as const;

/** One of {@linkcode USAGE_PROVIDERS}. */
export type UsageProvider = typeof USAGE_PROVIDERS[number];

const metricsConfig = withRules(
  z.object({
    provider: z.enum(USAGE_PROVIDERS).optional().describe(
      "Source of usage; absent: the controller's setting rightsizing.provider.",
    ),
    rollingWindow: durationField(
      "Time window of usage, for instance 24h or 7d.",
      { aboveZero: true },
    ).default("24h"),
    percentile: z.enum(["P50", "P90", "P95", "P99"]).default("P90").describe(
      "Percentile of usage on which the recommendation is based.",
    ),
    safetyFactor: z.number().min(1).max(10).default(1.2).describe(
      "Factor on the percentile.",
    ),
    minSamples: minSamples.default(10).describe(
      "Minimum number of samples of a container for a recommendation.",
    ),
    metricsServer: z.object({
      minSamplesRequired: minSamples.optional().describe(
        "Another name of minSamples; takes precedence over it.",
      ),
    }).optional().describe("Settings for metrics-server, as in OptiPod."),
    custom: z.object({
      name: z.string().min(1).max(253).describe(
        "Name of the provider in the controller's setting rightsizing.customSources.",
      ),
    }).optional().describe("Custom provider, if provider is custom."),
  }),
  {
    description: "Source and evaluation of usage.",
    rules: [{
      rule: "!has(self.provider) || self.provider != 'custom' || has(self.custom)",
      message: "must name a provider of the controller's configuration where provider is custom",
      field: "custom",
      holds: ({ provider, custom }) => provider !== "custom" || custom !== undefined,
    }],
  },
);

const cpuBounds = withRules(
  z.object({
    min: positiveQuantity("cpu", "Minimum request, for instance 100m."),
    max: positiveQuantity("cpu", "Maximum request, for instance 4."),
  }),
  { description: "Bounds of CPU requests.", rules: [orderRule("cpu")] },
);

const memoryBounds = withRules(
  z.object({
    min: positiveQuantity("memory", "Minimum request, for instance 128Mi."),
    max: positiveQuantity("memory", "Maximum request, for instance 8Gi."),
  }),
  { description: "Bounds of memory requests.", rules: [orderRule("memory")] },
);

const multiplier = z.number().min(1).max(10);

const updateStrategy = z.object({
  allowInPlaceResize: z.boolean().default(true).describe(
    "true: the controller may resize running pods, without a restart.",
  ),
  allowRecreate: z.boolean().default(false).describe(
    "true: the controller may change the workload's template if a resize in place is not " +
      "possible. A rollout then replaces the pods.",
  ),
  updateRequestsOnly: z.boolean().default(true).describe(
    "true: limits do not change. false: limits are the requests times the multipliers.",
  ),
  limitConfig: z.object({
    cpuLimitMultiplier: multiplier.default(1).describe(
      "Factor from the CPU request to the CPU limit.",
    ),
    memoryLimitMultiplier: multiplier.default(1.1).describe(
      "Factor from the memory request to the memory limit.",
    ),
  }).prefault({}).describe("Limits, if updateRequestsOnly is false."),
  changeThresholdPercent: z.int().min(0).max(1000).default(10).describe(
    "Minimum change that is applied, in percent of the present value.",
  ),
  cooldown: durationField("Minimum time between two changes of a workload.").default("30m"),
  useServerSideApply: z.boolean().default(true).describe(
    "true: the controller changes templates by server-side apply as optipod. false: by a strategic " +
      "merge patch.",
  ),
  allowWithHPA: z.boolean().default(false).describe(
    "true: the controller may change a CPU or memory request while a HorizontalPodAutoscaler scales on its " +
      "utilization.",
  ),
  publishVPA: z.boolean().default(false).describe(
    "true: the controller copies the recommendation to a VerticalPodAutoscaler of mode Off.",
  ),
}).prefault({}).describe("Rules for applying recommendations.");

/** Schema of a policy's spec. */
export const policySpecSchema = z.object({
  mode: z.enum(["Auto", "Recommend", "Disabled"]).describe(
    "Auto: recommendations are applied. Recommend: they are only published. Disabled: the policy " +
      "has no effect.",
  ),
  weight: z.int().min(1).max(1000).default(100).describe(
    "Precedence among policies that match a workload and are not disabled: the highest weight " +
      "applies, and among equal weights the first policy by namespace and name.",
  ),
  selector,
  metricsConfig,
  resourceBounds: z.object({
    cpu: cpuBounds,
    memory: memoryBounds,
  }).describe("Bounds of recommendations."),
  updateStrategy,
  reconciliationInterval: durationField("Interval between two evaluations of the policy.", {
    minMs: 10_000,
  })
    .default("5m"),
}).describe("Workloads to rightsize, bounds of the recommendations, and rules for applying them.");

/** The whole object, as a user writes it. */
export const optimizationPolicySchema = z.object({
  apiVersion: z.literal(OPTIPOD_GROUP_VERSION),
  kind: z.literal("OptimizationPolicy"),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  spec: policySpecSchema,
  status: policyStatusSchema.optional(),
});
