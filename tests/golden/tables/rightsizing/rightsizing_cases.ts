/**
 * What can speak against a recommendation, or shape it: the cases of rightsizing's decision table.
 *
 * @module
 */
import type { Draw, DrawnCase } from "../decision_table.ts";
import { MARKET_REFUSALS } from "../market/market_input.ts";
import type { RawContainer, RawList, RawResources } from "../raw_pod.ts";
import type { RightsizingInput } from "./rightsizing_table.ts";

/** Changes an input so that the case applies. */
export type RightsizingCase = (input: RightsizingInput, draw: Draw) => RightsizingInput;

/** The case, with these settings of `spec.updateStrategy` besides. */
function withStrategy(
  strategy: Readonly<Record<string, unknown>>,
  then: RightsizingCase = (input) => input,
): RightsizingCase {
  return (input, draw) =>
    then({ ...input, updateStrategy: { ...input.updateStrategy, ...strategy } }, draw);
}

/** Limits are set, too: those of the recommendation. */
export const limitsToo = withStrategy({ updateRequestsOnly: false });

/** Pods are recreated. */
export const recreated = withStrategy({ allowInPlaceResize: false, allowRecreate: true });

/** One of two shapes, by chance. */
function either(one: RightsizingCase, other: RightsizingCase): RightsizingCase {
  return (input, draw) => (draw.chance(1 / 2) ? one : other)(input, draw);
}

function restarts(resourceName: "cpu" | "memory"): RightsizingCase {
  return (input) => ({
    ...input,
    containers: input.containers.map((one) => ({
      ...one,
      resizePolicy: [{ resourceName, restartPolicy: "RestartContainer" }],
    })),
  });
}

/** Recommends this percentage of what the containers have. */
export function recommendedAs(input: RightsizingInput, percent: number): RightsizingInput {
  const recommended = input.containers.map(({ name, resources: { requests = {}, limits } }) => {
    const scaled = scaledList(requests, percent);
    const values: RawResources = limits === undefined
      ? { requests: scaled }
      : { requests: scaled, limits: scaledList(limits, percent) };
    return [name, values] as const;
  });
  return { ...input, recommended: Object.fromEntries(recommended) };
}

function scaledList(list: RawList, percent: number): RawList {
  return Object.fromEntries(
    Object.entries(list).map(([name, amount]) => {
      const unit = amount.replace(/^\d+/, "");
      return [name, `${Math.ceil(parseInt(amount) * percent / 100)}${unit}`];
    }),
  );
}

const lacksSamples: RightsizingCase = (input, draw) => ({
  ...input,
  samples: { app: draw.whole(0, 12) },
  ...(draw.chance(1 / 2) ? { recommended: {} } : {}),
});

const lowersMemory: RightsizingCase = (input, draw) => ({
  ...recommendedAs(input, draw.oneOf([30, 50, 75, 90])),
  memoryPeaks: { app: draw.oneOf(["unknown", "20Mi", "40Mi", "60Mi", "90Mi"]) },
});

/** Memory limits of 200Mi and more come down, far above the peak. */
const lowersLimits: RightsizingCase = (input, draw) => {
  const containers = input.containers.map(({ name }) => ({
    name,
    resources: {
      requests: { cpu: "100m", memory: "150Mi" },
      limits: { cpu: "200m", memory: "300Mi" },
    },
  }));
  return limitsToo(recommendedAs({ ...input, containers }, draw.oneOf([50, 75])), draw);
};

/** A LimitRange of containers or of the pod. */
export const limitRange: RightsizingCase = (input, draw) => {
  const max = { max: { cpu: `${100 * draw.whole(1, 4)}m`, memory: `${64 * draw.whole(1, 4)}Mi` } };
  const min = { min: { cpu: `${50 * draw.whole(1, 4)}m`, memory: `${32 * draw.whole(1, 4)}Mi` } };
  const ratio = { maxLimitRequestRatio: draw.oneOf<RawList>([{ cpu: "2" }, { memory: "1500m" }]) };
  const type = draw.oneOf(["Container", "Container", "Pod"]);
  const range = draw.oneOf([max, max, min, ratio]);
  const defaults = draw.chance(1 / 6) ? { default: { memory: "128Mi" } } : {};
  return { ...input, limitRange: [{ type, ...range, ...(type === "Pod" ? {} : defaults) }] };
};

/** A ResourceQuota that leaves some room, or none. */
export const quota: RightsizingCase = (input, draw) => {
  const name = draw.oneOf(["requests.cpu", "limits.cpu", "requests.memory", "limits.memory"]);
  const isCPU = name.endsWith("cpu");
  const left = draw.whole(-2, 5) * (isCPU ? 20 : 16);
  const unit = isCPU ? "m" : "Mi";
  const used = { [name]: `${2000 - left}${unit}` };
  return { ...input, quota: { hard: { [name]: `2000${unit}` }, used } };
};

/** A node with little room. */
export const smallNode: RightsizingCase = (input, draw) => ({
  ...recommendedAs(input, draw.oneOf([150, 200, 300])),
  node: {
    allocatable: draw.chance(1 / 2)
      ? { cpu: `${50 * draw.whole(2, 8)}m` }
      : { memory: `${32 * draw.whole(2, 8)}Mi` },
  },
});

const pressedNode: RightsizingCase = (input, draw) => ({
  ...input,
  node: { pressure: draw.oneOf(["MemoryPressure", "DiskPressure", "PIDPressure"]) },
});

/** Requests that are the limits: without new limits the class changes, or a request is above its limit. */
export const guaranteed: RightsizingCase = (input) => ({
  ...input,
  containers: input.containers.map((one): RawContainer => {
    const { limits = { cpu: "200m", memory: "128Mi" } } = one.resources;
    return { ...one, resources: { requests: limits, limits } };
  }),
});

const podLevel: RightsizingCase = (input, draw) => ({
  ...input,
  podResources: {
    requests: { cpu: "150m", memory: "100Mi" },
    limits: { cpu: draw.oneOf(["200m", "400m"]), memory: draw.oneOf(["128Mi", "256Mi"]) },
  },
});

const denied: RightsizingCase = (input, draw) => ({
  ...input,
  denied: draw.chance(2 / 3) ? input.recommended : recommendedAs(input, 130).recommended,
});

/** Earlier applications have set values. */
export const inForce: RightsizingCase = (input, draw) => ({
  ...input,
  inForce: recommendedAs(input, draw.oneOf([60, 110, 150])).recommended,
  memoryPeaks: { app: draw.oneOf(["30Mi", "60Mi"]) },
  ...(draw.chance(1 / 5) ? { isEditedSince: true } : {}),
});

/** Nothing new is recommended, and pods lack what is in force. */
const stragglers: RightsizingCase = (input, draw) => {
  const drawn = inForce(input, draw);
  return { ...drawn, recommended: drawn.inForce ?? {}, appliedMinutesAgo: draw.oneOf([5, 60]) };
};

const resized: RightsizingCase = (input, draw) => ({
  ...inForce(input, draw),
  podContainers: input.containers.map((one) => {
    const values = recommendedAs(input, 120).recommended[one.name] ?? {};
    return { ...one, resources: { ...one.resources, ...values } };
  }),
});

const edited: RightsizingCase = (input, draw) => ({
  ...recommendedAs(input, draw.oneOf([60, 80, 80, 150])),
  changedHoursAgo: draw.oneOf([{ cpu: 3 }, { memory: 3 }, { cpu: 3, memory: 30 }, { cpu: 30 }]),
});

const takenBack: RightsizingCase = (input, draw) => {
  const hours = draw.oneOf([2, 20, 30, 60]);
  return {
    ...recreated(recommendedAs(input, draw.oneOf([120, 150])), draw),
    appliedMinutesAgo: 60 * (hours + 1),
    changedHoursAgo: draw.oneOf([{ cpu: hours }, { cpu: hours, memory: hours }]),
  };
};

const notRolledOut: RightsizingCase = (input, draw) => ({
  ...recreated(stragglers(input, draw), draw),
  recommended: recommendedAs(input, 200).recommended,
  appliedMinutesAgo: 60,
  podContainers: input.containers,
  status: {
    replicas: 1,
    updatedReplicas: 0,
    conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }],
  },
});

const marketManaged: RightsizingCase = (input, draw) => ({
  ...input,
  marketLimits: { app: draw.oneOf(["60m", "300m", "600m"]) },
});

const manyPods: RightsizingCase = (input, draw) => ({ ...input, pods: draw.oneOf([0, 2, 3]) });

const initContainers: RightsizingCase = (input, draw) =>
  limitRange({
    ...input,
    initContainers: [
      {
        name: "proxy",
        restartPolicy: "Always",
        resources: { requests: { cpu: "50m" }, limits: { cpu: "100m" } },
      },
      { name: "setup", resources: { requests: { cpu: "300m", memory: "64Mi" } } },
    ],
  }, draw);

const GONE = { code: 404, message: 'deployments.apps "web" not found' };

/** The market's table has all refusals; here are those that decide what happens next. */
const REFUSED = [
  ...MARKET_REFUSALS.filter(({ code }) => code === 409 || code === 429 || code === 503),
  { code: 400, message: 'admission webhook "policy.example.com" denied the request: no' },
  { code: 403, message: 'pods "web" is forbidden: exceeded quota: q' },
  { code: 422, message: "something else" },
  {
    code: 403,
    message: 'cannot patch resource "pods/resize" in API group "" in the namespace "shop"',
  },
  {
    code: 403,
    message: 'cannot patch resource "deployments" in API group "apps" in the namespace "shop"',
  },
].map((refusal): RightsizingCase => (input, draw) => ({
  ...(draw.chance(1 / 4) ? recreated(recommendedAs(input, 140), draw) : recommendedAs(input, 140)),
  refusal,
}));

/** Each case, and how often it is drawn. */
export const RIGHTSIZING_CASES: readonly DrawnCase<RightsizingInput>[] = [
  [(input) => input, 5],
  [lacksSamples, 4],
  [(input) => ({ ...input, mode: "Recommend" }), 3],
  [(input) => ({ ...input, mode: "Disabled" }), 3],
  [(input) => ({ ...input, dryRun: true }), 3],
  [(input) => ({ ...input, missingPermissionFor: "InPlace" }), 3],
  [
    withStrategy({ allowInPlaceResize: false, allowRecreate: true }, (input) => ({
      ...input,
      missingPermissionFor: "Recreate",
    })),
    2,
  ],
  [denied, 5],
  [(input) => ({ ...input, hpaOn: "unreadable" }), 3],
  [(input) => ({ ...input, hpaOn: "cpu" }), 4],
  [(input) => ({ ...input, hpaOn: "memory" }), 3],
  [withStrategy({ allowWithHPA: true }, (input) => ({ ...input, hpaOn: "cpu" })), 2],
  [
    (input, draw) => ({
      ...input,
      vpaMode: draw.oneOf(["Off", "Auto", "Auto", "Auto", "Initial"]),
    }),
    5,
  ],
  [(input) => ({ ...input, paused: true }), 3],
  [(input) => ({ ...input, status: { replicas: 2, updatedReplicas: 1 } }), 3],
  [either(limitRange, (input, draw) => limitRange(limitsToo(input, draw), draw)), 11],
  [either(quota, (input, draw) => quota(limitsToo(input, draw), draw)), 11],
  [smallNode, 7],
  [pressedNode, 5],
  [either(guaranteed, (input, draw) => guaranteed(limitsToo(input, draw), draw)), 8],
  [podLevel, 5],
  [either(lowersMemory, (input, draw) => lowersMemory(limitsToo(input, draw), draw)), 8],
  [(input, draw) => recommendedAs(input, draw.oneOf([92, 97, 100, 104, 108, 111])), 6],
  [(input, draw) => ({ ...input, appliedMinutesAgo: draw.oneOf([5, 5, 29, 29, 30, 60]) }), 7],
  [edited, 6],
  [takenBack, 6],
  [inForce, 5],
  [stragglers, 6],
  [resized, 4],
  [notRolledOut, 5],
  [marketManaged, 4],
  [(input, draw) => marketManaged(guaranteed(input, draw), draw), 3],
  [manyPods, 3],
  [initContainers, 4],
  [restarts("cpu"), 4],
  [restarts("memory"), 4],
  [withStrategy({ allowRecreate: true }, restarts("cpu")), 3],
  [(input, draw) => ({
    ...lowersLimits(input, draw),
    server: { lowersMemoryLimits: false },
  }), 4],
  [
    withStrategy({ allowRecreate: true }, (input, draw) => ({
      ...lowersLimits(input, draw),
      server: { lowersMemoryLimits: false },
    })),
    2,
  ],
  [(input, draw) => ({ ...recreated(recommendedAs(input, 140), draw), refusal: GONE }), 3],
  [(input) => ({ ...input, server: { resizeServed: false } }), 3],
  [(input) => ({ ...input, os: "windows" }), 2],
  [(input) => ({ ...input, node: { kubeletVersion: "v1.32.4" } }), 2],
  [withStrategy({ allowInPlaceResize: false }), 3],
  [recreated, 3],
  [(input, draw) => recreated(limitsToo(input, draw), draw), 3],
  ...REFUSED.map((one) => [one, 2] as const),
  [(input) => ({ ...recommendedAs(input, 150), appliedMinutesAgo: 30 }), 2],
];
