/**
 * What decides about pods that lack the values in force, and values exactly at a bound.
 *
 * @module
 */
import type { DrawnCase } from "../decision_table.ts";
import type { RawResources } from "../raw_pod.ts";
import {
  guaranteed,
  inForce,
  limitRange,
  limitsToo,
  quota,
  recommendedAs,
  type RightsizingCase,
} from "./rightsizing_cases.ts";
import type { RightsizingInput } from "./rightsizing_table.ts";

/** Nothing is recommended, values are in force that the pods lack, and this applies besides. */
function straggling(change: RightsizingCase): RightsizingCase {
  return (input, draw) => {
    const { isEditedSince: _none, ...adopted } = inForce(input, draw);
    return { ...change(adopted, draw), recommended: {}, samples: { app: 0 } };
  };
}

const inForceAs = (percent: number): RightsizingCase => (input) => ({
  ...input,
  inForce: recommendedAs(input, percent).recommended,
});

/** One container with these resources, and these recommended. */
function exactly(present: RawResources, recommended: RawResources): RightsizingCase {
  return (input, draw) =>
    limitsToo({
      ...input,
      containers: [{ name: "app", resources: present }],
      recommended: { app: recommended },
    }, draw);
}

const PRESENT: RawResources = {
  requests: { cpu: "100m", memory: "100Mi" },
  limits: { cpu: "200m", memory: "200Mi" },
};

/** Memory as it is, more CPU. */
const SAME_MEMORY: RawResources = {
  requests: { cpu: "150m", memory: "100Mi" },
  limits: { cpu: "300m", memory: "200Mi" },
};

const unknownPeak: RightsizingCase = (input, draw) => ({
  ...exactly(PRESENT, SAME_MEMORY)(input, draw),
  memoryPeaks: { app: "unknown" },
});

/** Values in force exactly at the policy's bounds, or around them. */
const atPolicyBound: RightsizingCase = (input, draw) =>
  limitsToo({
    ...input,
    inForce: {
      app: {
        requests: {
          cpu: draw.oneOf(["3999m", "4", "4001m"]),
          memory: draw.oneOf(["4Gi", "5Gi", "5Gi"]),
        },
        limits: { cpu: "20", memory: "40Gi" },
      },
    },
    memoryPeaks: { app: draw.oneOf(["unknown", "30Mi", "3Gi", "3500Mi", "3600Mi", "4Gi"]) },
  }, draw);

/** Each case, and how often it is drawn. */
export const BOUND_CASES: readonly DrawnCase<RightsizingInput>[] = [
  [straggling((input) => input), 2],
  [straggling((input) => ({ ...input, mode: "Recommend" })), 2],
  [straggling((input) => ({ ...input, dryRun: true })), 2],
  [straggling((input) => ({ ...input, missingPermissionFor: "InPlace" })), 2],
  [straggling((input) => ({ ...input, denied: {} })), 2],
  [straggling((input) => ({ ...input, hpaOn: "unreadable" })), 2],
  [straggling((input) => ({ ...input, hpaOn: "cpu" })), 2],
  [straggling((input) => ({ ...input, vpaMode: "Auto" })), 2],
  [straggling((input) => ({ ...input, paused: true })), 2],
  [straggling((input, draw) => limitRange(inForceAs(150)(input, draw), draw)), 3],
  [straggling((input, draw) => quota(inForceAs(150)(input, draw), draw)), 4],
  [
    straggling((input, draw) => ({
      ...inForceAs(150)(input, draw),
      node: { allocatable: { cpu: "50m" } },
    })),
    2,
  ],
  [straggling((input, draw) => inForceAs(80)(guaranteed(input, draw), draw)), 3],
  [straggling((input, draw) => inForceAs(300)(input, draw)), 3],
  [
    straggling((input, draw) => ({
      ...inForceAs(60)(input, draw),
      podContainers: recommendedContainers(input, 200),
      memoryPeaks: { app: "90Mi" },
    })),
    3,
  ],
  [
    straggling((input, draw) => ({
      ...inForceAs(150)(input, draw),
      node: { pressure: "MemoryPressure" },
    })),
    2,
  ],
  [straggling((input) => ({ ...input, updateStrategy: { allowInPlaceResize: false } })), 2],
  [(input) => ({ ...input, samples: { app: 9 } }), 1],
  [(input) => ({ ...input, samples: { app: 10 } }), 1],
  [(input) => ({ ...input, denied: input.recommended, denialEndsInMinutes: 0 }), 2],
  [unknownPeak, 1],
  [(input, draw) => ({
    ...exactly(PRESENT, SAME_MEMORY)(input, draw),
    podResources: {
      requests: { cpu: "150m", memory: "100Mi" },
      limits: { cpu: "300m", memory: "200Mi" },
    },
  }), 1],
  [atPolicyBound, 8],
  // A lift beside this peak leads to 4Gi, the policy's bound.
  [
    (input, draw) => ({ ...atPolicyBound(input, draw), memoryPeaks: { app: "3395231063" } }),
    4,
  ],
  [(input, draw) => ({
    ...exactly(PRESENT, {
      requests: draw.oneOf([{ cpu: "90m", memory: "100Mi" }, { cpu: "100m", memory: "100Mi" }]),
      limits: draw.oneOf([{ cpu: "300m", memory: "200Mi" }, { cpu: "200m", memory: "300Mi" }]),
    })(input, draw),
    node: { pressure: "MemoryPressure" },
  }), 3],
  [(input, draw) => ({
    ...input,
    vpaMode: "Auto",
    vpaResources: draw.oneOf([["cpu"], ["memory"], ["memory"]]),
  }), 4],
];

function recommendedContainers(input: RightsizingInput, percent: number) {
  const { recommended } = recommendedAs(input, percent);
  return input.containers.map(({ name, resources }) => ({
    name,
    resources: recommended[name] ?? resources,
  }));
}
