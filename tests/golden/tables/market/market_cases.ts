/**
 * What can speak against a change of the market, or shape it: the cases of its decision table.
 *
 * @module
 */
import type { DrawnCase } from "../decision_table.ts";
import {
  guaranteed,
  MARKET_REFUSALS,
  type MarketCase,
  type MarketInput,
  withAnnotations,
  withContainers,
  withPod,
  withStatus,
} from "./market_input.ts";
import {
  exactQuota,
  initContainer,
  limitRange,
  podLevel,
  podLevelRange,
  quota,
  WITH_DEFAULTS,
} from "./namespace_cases.ts";
import type { RawContainerStatus } from "../raw_pod.ts";

/** The kubelet still has half of what the first container's spec asks for. */
export function lagging({ pod }: MarketInput): readonly RawContainerStatus[] {
  const [first] = pod.spec.containers;
  if (first === undefined) return [];
  const half = (list: Readonly<Record<string, string>> = {}) =>
    list["cpu"] === undefined ? list : { ...list, cpu: `${parseInt(list["cpu"]) / 2}m` };
  const { requests, limits } = first.resources;
  return [{
    name: first.name,
    resources: { requests: half(requests), limits: half(limits) },
    allocatedResources: half(requests),
  }];
}

/** Wanted limits as they are in the spec. */
export function wantsSpec(input: MarketInput): MarketInput {
  const containers = [
    ...input.pod.spec.containers,
    ...input.pod.spec.initContainers ?? [],
  ];
  const limits = containers.flatMap(({ name, resources }) => {
    const { cpu } = resources.limits ?? {};
    return cpu === undefined ? [] : [[name, cpu] as const];
  });
  const wanted = Object.fromEntries(limits);
  return { ...input, wanted };
}

const INFEASIBLE = [
  "In-place resize is not supported for Guaranteed Pods alongside CPU Manager static policy",
  "In-place resize is not supported for Guaranteed Pods alongside Memory Manager static policy",
  "In-place resize of containers with swap is not supported.",
  "Node didn't have enough capacity: cpu, requested: 9000, capacity: 8000",
  "In-place resize of static-pods is not supported",
  "In-place resize is not supported on Windows",
  "InPlacePodLevelResourcesVerticalScaling is disabled",
  "InPlacePodVerticalScaling is disabled",
  "something else",
] as const;

/**
 * The kubelet reports this about a resize; wanted limits are mostly those of the spec, which it is
 * about.
 */
function kubeletReports(condition: Readonly<Record<string, string>>): MarketCase {
  return (input, draw) => {
    const observedGeneration = draw.oneOf([2, 3, 3, 3, 3, 3, 3, 3]);
    const waiting = withStatus(draw.chance(0.95) ? wantsSpec(input) : input, {
      conditions: [{ ...condition, status: "True", observedGeneration }],
    });
    return withStatus(waiting, { containerStatuses: lagging(waiting) });
  };
}

const KUBELET_REPORTS = [
  ...INFEASIBLE.map((message) => ({ type: "PodResizePending", reason: "Infeasible", message })),
  { type: "PodResizePending", reason: "Deferred", message: "no room" },
  { type: "PodResizeInProgress", reason: "Error", message: "it failed" },
].map(kubeletReports);

/** The spec has what is wanted, and the kubelet reports other amounts: rounded, or another request. */
function reportedAs(limitOff: number, requestOff: number): MarketCase {
  return (input, draw) => {
    const cpu = 10 * draw.whole(10, 40) - 5;
    const list = { cpu: `${cpu}m`, memory: "64Mi" };
    const isGuaranteed = draw.chance(2 / 3);
    const requests = isGuaranteed ? list : { cpu: "50m" };
    const annotations = { "mbcas.io/skip-guaranteed": "false" };
    const reported = `${parseInt(requests.cpu) + requestOff}m`;
    return {
      ...input,
      pod: {
        ...(isGuaranteed ? { metadata: { annotations } } : {}),
        spec: { containers: [{ name: "app", resources: { requests, limits: list } }] },
        status: {
          containerStatuses: [{
            name: "app",
            resources: { requests: { cpu: reported }, limits: { cpu: `${cpu + limitOff}m` } },
            allocatedResources: { cpu: reported },
          }],
        },
      },
      wanted: { app: draw.chance(3 / 4) ? `${cpu}m` : `${cpu + 100}m` },
    };
  };
}

const inProgress: MarketCase = (input, draw) => {
  const base = draw.chance(1 / 2) ? wantsSpec(input) : input;
  return withStatus(base, { containerStatuses: lagging(base) });
};

/** The allocation names another pod. */
export const otherIdentity: MarketCase = (input, draw) => ({
  ...input,
  allocation: draw.oneOf([{ podUID: "other" }, { nodeName: "node-2" }, { namespace: "other" }]),
});

/** The pod is not running, or terminates. */
export const notRunning: MarketCase = (input, draw) =>
  draw.chance(1 / 2)
    ? withStatus(input, { phase: draw.oneOf(["Pending", "Succeeded", "Failed"]) })
    : withPod(input, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    }));

const OUT_OF_SCOPE: readonly MarketCase[] = [
  (input) => ({ ...input, settings: { market: false } }),
  (input) => ({ ...input, settings: { managementPolicy: "OptIn" } }),
  (input) => ({ ...input, settings: { excludedNamespaces: ["shop"] } }),
  (input) => withAnnotations(input, { "mbcas.io/managed": "false" }),
  (input) => ({ ...input, namespaceLabels: { "mbcas.io/managed": "false" } }),
  (input) => withAnnotations(guaranteed(input), { "mbcas.io/skip-guaranteed": "true" }),
];

const verticalAutoscaler: MarketCase = (input, draw) => ({
  ...input,
  vpaMode: draw.oneOf(["Off", "Auto", "Auto", "Recreate"]),
});

const horizontalAutoscaler: MarketCase = (input) => ({ ...guaranteed(input), hpaUtilization: 60 });

const noLimits: MarketCase = (input) => {
  const without = withContainers(input, ({ resources: { requests = {} }, ...one }) => ({
    ...one,
    resources: { requests },
  }));
  return { ...without, originalLimits: {} };
};

/** Pods that the platform cannot resize. */
export const PLATFORM: readonly MarketCase[] = [
  (input) => withPod(input, (pod) => ({ ...pod, spec: { ...pod.spec, os: { name: "windows" } } })),
  (input) => ({ ...input, node: { os: "windows" } }),
  (input) => withAnnotations(input, { "kubernetes.io/config.mirror": "m" }),
  (input) => withStatus(input, { nodeAllocatableResourceClaimStatuses: [{}] }),
  (input) => ({ ...input, node: { kubeletVersion: "v1.32.4" } }),
];

const silent: MarketCase = (input) => ({ ...input, agentSilent: true });

const staleBounds: MarketCase = (input, draw) => ({ ...input, observedBounds: draw.oneOf([1, 2]) });

const notCleared: MarketCase = ({ wanted: _wanted, ...input }) => input;

const tightBounds: MarketCase = (input, draw) => {
  const names = Object.keys(input.wanted ?? {}).filter(() => draw.chance(2 / 3));
  const bounds = names.map((name) => {
    const floor = 10 * draw.whole(1, 30);
    const ceiling = floor + 10 * draw.whole(0, 40);
    const held = draw.oneOf(["half", "lower", "both", "", "", ""]);
    return [name, { floor, ceiling, ...(held === "" ? {} : { held }) }] as const;
  });
  return { ...input, bounds: Object.fromEntries(bounds) };
};

/** The resize policy restarts containers. */
export const restarts: MarketCase = (input, draw) =>
  withContainers(
    input,
    (one, index) =>
      index === 0 || draw.chance(1 / 2)
        ? { ...one, resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }
        : one,
  );

/** A single Burstable container with a limit that would come down to its request. */
export const otherClass: MarketCase = (input, draw) => {
  const list = { cpu: "200m", memory: "64Mi" };
  const [first] = input.pod.spec.containers;
  if (first === undefined) return input;
  const resources = { requests: list, limits: { ...list, cpu: "300m" } };
  const pod = {
    spec: { containers: [{ ...first, resources }] },
  };
  const wanted = { [first.name]: draw.oneOf(["200m", "200m", "400m"]) };
  return { ...input, pod, wanted };
};

const backOff: MarketCase = (input, draw) => ({
  ...input,
  backOffMs: 1000 * draw.whole(1, 60),
  ...(draw.chance(1 / 3) ? { agentSilent: true } : {}),
});

/** The rate limit is used up. */
export const notYetItsTurn: MarketCase = (input, draw) => ({
  ...input,
  turnInMs: 20 * draw.whole(1, 50),
});

/** A change that is sent, of the market's or back to the original limits, and this answer. */
const REFUSED = MARKET_REFUSALS.map((refusal): MarketCase => (input, draw) => ({
  ...input,
  refusal,
  ...(draw.chance(1 / 4) ? { agentSilent: true } : {}),
}));

const dryRun: MarketCase = (input) => ({ ...input, settings: { dryRun: true } });

const unknownOriginal: MarketCase = (input) => ({ ...input, originalUnknown: true });

/** Each case, and how often it is drawn. */
export const MARKET_CASES: readonly DrawnCase<MarketInput>[] = [
  [(input) => input, 5],
  [otherIdentity, 3],
  ...OUT_OF_SCOPE.map((one) => [one, 3] as const),
  [verticalAutoscaler, 5],
  [horizontalAutoscaler, 3],
  [noLimits, 3],
  [silent, 4],
  [staleBounds, 3],
  [notCleared, 3],
  [tightBounds, 12],
  [notRunning, 4],
  ...PLATFORM.map((one) => [one, 3] as const),
  [restarts, 6],
  [otherClass, 5],
  [wantsSpec, 4],
  [limitRange, 12],
  [quota, 12],
  ...KUBELET_REPORTS.map((one) => [one, 4] as const),
  [inProgress, 4],
  [backOff, 4],
  [notYetItsTurn, 3],
  ...REFUSED.map((one) => [one, 2] as const),
  [dryRun, 4],
  [unknownOriginal, 3],
  [initContainer, 4],
  [podLevel, 5],
  [exactQuota(0), 3],
  [exactQuota(200), 3],
  [podLevelRange, 4],
  ...WITH_DEFAULTS.map((one) => [one, 2] as const),
  [reportedAs(5, 0), 2],
  [reportedAs(10, 0), 2],
  [reportedAs(0, 26), 2],
  [reportedAs(0, 27), 2],
  [(input) => ({ ...input, settings: { resizeServed: false } }), 4],
];
