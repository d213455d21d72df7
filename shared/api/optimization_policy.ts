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
      "Workloads of namespaces with such labels.",
    ),
    workloadSelector: labelSelectorSchema.optional().describe(
      "Workloads with such labels: the workload's own, not its pods'.",
    ),
    namespaces: z.object({
      allow: namespaces.describe("Workloads of these namespaces only; empty: of all."),
      deny: namespaces.describe("Workloads of none of these namespaces, whatever allow says."),
    }).optional().describe("Workloads of namespaces by name."),
    workloadTypes: z.object({
      include: kinds.describe("Workloads of these kinds only; empty: of all."),
      exclude: kinds.describe("Workloads of none of these kinds, whatever include says."),
    }).optional().describe("Workloads by kind. What is left may be nothing."),
  }),
  {
    description: "Which workloads. All that is said must hold.",
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
      "Where usage comes from; absent: where the controller's setting rightsizing.provider says.",
    ),
    rollingWindow: durationField(
      "How far back usage counts, for instance 24h or 7d.",
      { aboveZero: true },
    ).default("24h"),
    percentile: z.enum(["P50", "P90", "P95", "P99"]).default("P90").describe(
      "Percentile of the usage that the recommendation is made from.",
    ),
    safetyFactor: z.number().min(1).max(10).default(1.2).describe(
      "What the percentile is multiplied by.",
    ),
    minSamples: minSamples.default(10).describe(
      "With fewer samples of a container nothing is recommended.",
    ),
    metricsServer: z.object({
      minSamplesRequired: minSamples.optional().describe(
        "Another name of minSamples; where both are given, this one counts.",
      ),
    }).optional().describe("The same for metrics-server, as OptiPod has it."),
    custom: z.object({
      name: z.string().min(1).max(253).describe(
        "Name under which the controller's configuration knows the provider.",
      ),
    }).optional().describe("The provider, where provider is custom."),
  }),
  {
    description: "What usage is, and which of it counts.",
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
    min: positiveQuantity("cpu", "The least request, for instance 100m."),
    max: positiveQuantity("cpu", "The largest request, for instance 4."),
  }),
  { description: "Bounds of CPU requests.", rules: [orderRule("cpu")] },
);

const memoryBounds = withRules(
  z.object({
    min: positiveQuantity("memory", "The least request, for instance 128Mi."),
    max: positiveQuantity("memory", "The largest request, for instance 8Gi."),
  }),
  { description: "Bounds of memory requests.", rules: [orderRule("memory")] },
);

const multiplier = z.number().min(1).max(10);

const updateStrategy = z.object({
  allowInPlaceResize: z.boolean().default(true).describe(
    "Running pods may be resized; they are not restarted.",
  ),
  allowRecreate: z.boolean().default(false).describe(
    "The workload's template may be changed where a resize in place is not possible; its pods are " +
      "replaced in a rollout.",
  ),
  updateRequestsOnly: z.boolean().default(true).describe(
    "true: limits are left alone. false: they are the requests times the multipliers.",
  ),
  limitConfig: z.object({
    cpuLimitMultiplier: multiplier.default(1).describe("The CPU limit is the request times this."),
    memoryLimitMultiplier: multiplier.default(1.1).describe(
      "The memory limit is the request times this.",
    ),
  }).prefault({}).describe("Limits, where updateRequestsOnly is false."),
  changeThresholdPercent: z.int().min(0).max(1000).default(10).describe(
    "Percent of the present value; a smaller change is not applied.",
  ),
  cooldown: durationField("A workload is not changed again sooner.").default("30m"),
  useServerSideApply: z.boolean().default(true).describe(
    "How a template is changed. true: by server-side apply as optipod. false: by a strategic merge " +
      "patch.",
  ),
  allowWithHPA: z.boolean().default(false).describe(
    "Requests of CPU and memory may be changed under a HorizontalPodAutoscaler on their " +
      "utilisation, which is percent of the request.",
  ),
  publishVPA: z.boolean().default(false).describe(
    "The recommendation is mirrored in a VerticalPodAutoscaler of mode Off, for others to read.",
  ),
}).prefault({}).describe("How recommendations are applied.");

/** Schema of a policy's spec. */
export const policySpecSchema = z.object({
  mode: z.enum(["Auto", "Recommend", "Disabled"]).describe(
    "Auto: recommendations are applied. Recommend: they are published. Disabled: nothing is done.",
  ),
  weight: z.int().min(1).max(1000).default(100).describe(
    "Of the policies that match a workload and are not disabled, the one of the highest weight " +
      "counts; of equal ones the first by namespace and name.",
  ),
  selector,
  metricsConfig,
  resourceBounds: z.object({
    cpu: cpuBounds,
    memory: memoryBounds,
  }).describe("Within which a recommendation is kept."),
  updateStrategy,
  reconciliationInterval: durationField("How often the policy is evaluated.", { minMs: 10_000 })
    .default("5m"),
}).describe("Which workloads, what is recommended for them, and how it is applied.");

/** The whole object, as a user writes it. */
export const optimizationPolicySchema = z.object({
  apiVersion: z.literal(OPTIPOD_GROUP_VERSION),
  kind: z.literal("OptimizationPolicy"),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  spec: policySpecSchema,
  status: policyStatusSchema.optional(),
});
