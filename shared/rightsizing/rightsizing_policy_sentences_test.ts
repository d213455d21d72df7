import { assertSentences, type SentenceRow } from "../../tests/fixtures/assert_sentences.ts";
import { autoPolicy, MI } from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { largeRecord } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { faultText } from "../api/fields.ts";
import {
  buildPolicyStatus,
  type PolicyCycle,
  samplesNote,
  scopeNote,
} from "./build_policy_status.ts";
import { samplesDistribution } from "./distribution.ts";
import { type PolicySelector, readPolicySpec, type UpdateStrategy } from "./policy_spec.ts";
import { type Corrections, estimateRequest, recommend } from "./recommend.ts";

function sentences(name: string, rows: readonly SentenceRow[]): void {
  Deno.test({ name, permissions: "none", fn: () => assertSentences(rows) });
}

const DAY_MS = 86_400_000;

/** Usage in one sample, millicores or bytes. */
function usage(value: number) {
  return samplesDistribution(Float64Array.of(value), { oldestMs: 1, newestMs: 1 });
}

/** Explanation of a recommendation by P90. */
const explained =
  (cpu: number, memoryMebi: number, { corrections = {}, ...strategy }: Partial<UpdateStrategy> & {
    readonly corrections?: Corrections;
  } = {}) =>
  (): string => {
    const bounds = { cpu: { min: 50, max: 2000 }, memory: { min: 64 * MI, max: 1024 * MI } };
    const policy = autoPolicy(strategy, { minSamples: 1, bounds });
    const used = { container: "app", cpu: usage(cpu), memory: usage(memoryMebi * MI) };
    return recommend(used, { policy, corrections })?.explanation ?? "";
  };

sentences("sentences about recommendations", [
  [
    "bounds",
    explained(10, 2048),
    "CPU 50m: P90 of 1 sample in 24h is 10m, times 1.2 is 12m, raised to the minimum of bounds 50m " +
    "to 2. Memory 1024Mi: P90 of 1 sample in 24h is 2048Mi, times 1.2 is 2576980377, lowered to the " +
    "maximum of bounds 64Mi to 1024Mi",
  ],
  [
    "limits",
    explained(280, 100, { updateRequestsOnly: false }),
    "CPU 336m: P90 of 1 sample in 24h is 280m, times 1.2 is 336m, within bounds 50m to 2. " +
    "Memory 120Mi: P90 of 1 sample in 24h is 100Mi, times 1.2 is 120Mi, within bounds 64Mi " +
    "to 1024Mi. Limits: CPU 336m, request times 1; memory 132Mi, request times 1.1",
  ],
  [
    "OOM kill, throttling",
    explained(200, 200, {
      corrections: { oomKills: [{ hadBytes: 256 * MI }], throttling: { share: 0.4, demand: 500 } },
    }),
    "CPU 600m: P90 of 1 sample in 24h is 200m, raised to 500m since its limit ran out in 40 " +
    "% of the periods (the market saw that much wanted), times 1.2 is 600m, within bounds " +
    "50m to 2. Memory 356Mi: P90 of 1 sample in 24h is 200Mi, times 1.2 is 240Mi, killed for " +
    "lack of memory at 256Mi, so raised to 356Mi, within bounds 64Mi to 1024Mi",
  ],
  [
    "throttling, unknown demand",
    explained(200, 200, { corrections: { throttling: { share: 0.25 } } }),
    "CPU 300m: P90 of 1 sample in 24h is 200m, raised to 250m since its limit ran out in 25 " +
    "% of the periods (more was wanted, how much is unknown), times 1.2 is 300m, within " +
    "bounds 50m to 2. Memory 240Mi: P90 of 1 sample in 24h is 200Mi, times 1.2 is 240Mi, " +
    "within bounds 64Mi to 1024Mi",
  ],
  [
    "windows",
    () =>
      [7 * DAY_MS, 1.5 * DAY_MS, DAY_MS / 48].map((windowMs) => {
        const policy = autoPolicy({}, { percentile: "P50", windowMs });
        return estimateRequest(usage(2), { resource: "cpu", policy, corrections: {} }).steps[0];
      }).join(),
    "P50 of 1 sample in 7d is 2m,P50 of 1 sample in 36h is 2m,P50 of 1 sample in 30m is 2m",
  ],
]);

/** The required fields of a policy. */
const LEAST = {
  mode: "Recommend",
  selector: { workloadSelector: {} },
  metricsConfig: { provider: "prometheus" },
  resourceBounds: { cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
};

/** Faults of a spec with these fields. */
const fault = (fields: Readonly<Record<string, unknown>>) => (): string =>
  readPolicySpec({ ...LEAST, ...fields }).faults.map(faultText).join("; ");

/** Faults of a term in the selector of workloads. */
const termFault = (...terms: readonly unknown[]) =>
  fault({ selector: { workloadSelector: { matchExpressions: terms } } });

sentences("sentences about invalid policies", [
  [
    "no object",
    () => readPolicySpec([]).faults.map(faultText).join(),
    "spec is a list of 0: must be an object",
  ],
  [
    "missing",
    () => readPolicySpec(undefined).faults.map(faultText).join(),
    "spec is missing: must be an object",
  ],
  [
    "one of",
    fault({ mode: "Sometimes" }),
    'spec.mode is "Sometimes": must be one of Auto, Recommend, Disabled',
  ],
  [
    "selector",
    fault({ selector: { workloadTypes: {} } }),
    "spec.selector is an object: must have at least one of namespaceSelector, " +
    "workloadSelector and namespaces",
  ],
  [
    "label keys",
    fault({ selector: { workloadSelector: { matchLabels: { "-": "" } } } }),
    "spec.selector.workloadSelector.matchLabels is an object: must have labels' keys, for " +
    "instance app or example.com/tier",
  ],
  [
    "label key",
    termFault({ key: "-", operator: "Exists" }),
    'spec.selector.workloadSelector.matchExpressions[0].key is "-": must be a label\'s key, ' +
    "for instance app or example.com/tier",
  ],
  [
    "values",
    termFault({ key: "app", operator: "In" }),
    "spec.selector.workloadSelector.matchExpressions[0].values is missing: must have at " +
    "least one value where operator is In or NotIn",
  ],
  [
    "no values",
    termFault({ key: "app", operator: "Exists", values: ["a"] }),
    "spec.selector.workloadSelector.matchExpressions[0].values is a list of 1: must be empty " +
    "where operator is Exists or DoesNotExist",
  ],
  [
    "numbers",
    fault({ metricsConfig: { provider: "prometheus", safetyFactor: 0.5, minSamples: 1.5 } }),
    "spec.metricsConfig.safetyFactor is 0.5: must be at least 1; " +
    "spec.metricsConfig.minSamples is 1.5: must be a whole number",
  ],
  [
    "bounds",
    fault({ resourceBounds: { cpu: { min: "3", max: 2 }, memory: { min: 0, max: 1 } } }),
    'spec.resourceBounds.cpu.min is "3": must not be above max; ' +
    "spec.resourceBounds.memory.min is 0: must be a quantity above 0, for instance 128Mi or 1Gi",
  ],
  [
    "custom source",
    fault({ metricsConfig: { provider: "custom" } }),
    "spec.metricsConfig.custom is missing: must name a provider of the controller's " +
    "configuration where provider is custom",
  ],
]);

/** Message of one of a policy's conditions. */
const condition = (type: string, cycle: Partial<PolicyCycle> = {}) => (): string => {
  const { conditions = [] } = buildPolicyStatus({
    nowMs: 1,
    generation: 1,
    before: {},
    dryRun: false,
    workloads: [],
    ...cycle,
  });
  return conditions.find((one) => one.type === type)?.message ?? "";
};

/** Note about the reach of a policy in namespace `shop`. */
const noted = (selector: Partial<PolicySelector>, matched = 1) => (): string =>
  scopeNote({ workloadKinds: ["Deployment"], ...selector }, {
    policyNamespace: "shop",
    policyNamespaces: [],
    matched,
  }) ?? "";

const lacking = ["a", "b", "c", "d", "e", "f"].map((name) => ({
  ...largeRecord(name, { containers: 1, explanation: 1 }),
  reason: "MetricsMissing",
}));

sentences("sentences about valid policies", [
  ["PolicyValid", condition("Ready"), "each field of the policy is valid"],
  [
    "PolicyValid, notes",
    condition("Ready", { notes: ["it matches no workload"] }),
    "each field of the policy is valid; it matches no workload",
  ],
  [
    "window too short",
    () =>
      samplesNote({ provider: "metrics-server", windowMs: 300_000, minSamples: 10 }, {
        intervalMs: 30_000,
        size: 16,
      }) ?? "",
    "its rollingWindow of 5m holds 8 samples of one pod for sure, read every 30s, and minSamples " +
    "is 10: a longer window, a smaller minSamples or the controller's setting " +
    "rightsizing.samplerInterval helps",
  ],
  ["MetricsPresent", condition("MetricsMissing"), "no workload lacks metrics"],
  [
    "MetricsMissing",
    condition("MetricsMissing", { workloads: lacking }),
    "6 of 6 workloads: shop/Deployment/a, shop/Deployment/b, shop/Deployment/c, " +
    "shop/Deployment/d, shop/Deployment/e and 1 more",
  ],
  ["Live", condition("DryRun"), "the controller's setting dryRun is off"],
  [
    "DryRun",
    condition("DryRun", { dryRun: true }),
    "the controller's setting dryRun is on: nothing is applied",
  ],
  [
    "namespaces",
    noted({ namespaces: { allow: ["a", "b", "c", "d", "e", "f", "g"], deny: [] } }),
    "its selector asks for a, b, c, d, e and 2 more; it acts on its own namespace shop " +
    "alone, since the controller's setting policyNamespaces does not have that",
  ],
  [
    "namespaceSelector",
    noted({ namespaceSelector: { matchLabels: { team: "a" }, matchExpressions: [] } }),
    "it has a namespaceSelector; it acts on its own namespace shop alone, since the " +
    "controller's setting policyNamespaces does not have that",
  ],
  [
    "no workload",
    noted({}, 0),
    "it matches no workload; it acts on its own namespace shop alone, since the controller's " +
    "setting policyNamespaces does not have that",
  ],
]);
