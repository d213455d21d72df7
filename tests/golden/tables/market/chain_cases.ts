/**
 * What decides a restore or a change by a person, and values exactly at a bound.
 *
 * @module
 */
import type { DrawnCase } from "../decision_table.ts";
import type { RawContainer } from "../raw_pod.ts";
import {
  lagging,
  notRunning,
  notYetItsTurn,
  otherClass,
  otherIdentity,
  PLATFORM,
  restarts,
  wantsSpec,
} from "./market_cases.ts";
import { type MarketCase, type MarketInput, withPod, withStatus } from "./market_input.ts";
import { limitRange, quota } from "./namespace_cases.ts";

/** A container without a memory limit in a namespace that sets one by default. */
const memoryDefault: MarketCase = (input) => ({
  ...input,
  pod: {
    spec: {
      containers: [{
        name: "app",
        resources: { requests: { cpu: "100m" }, limits: { cpu: "300m" } },
      }],
    },
  },
  wanted: { app: "400m" },
  originalLimits: { app: "200m" },
  limitRange: [{ type: "Container", default: { memory: "128Mi" } }],
});

/** The kubelet has not applied the spec yet, and other limits are wanted. */
const changedMeanwhile: MarketCase = (input) =>
  withStatus(input, { containerStatuses: lagging(input) });

/** Each case applied to a pod that is out of scope, or with an agent that is silent. */
function restored(change: MarketCase): MarketCase {
  return (input, draw) => {
    const next = change(input, draw);
    return draw.chance(1 / 2)
      ? { ...next, agentSilent: true }
      : { ...next, settings: { ...next.settings, market: false } };
  };
}

/** Each case applied to a change by a person. */
function byPerson(change: MarketCase): MarketCase {
  return (input, draw) => ({ ...change(input, draw), by: "person" });
}

/** One container gets more and the other one less. */
function twoContainers(bounds: Partial<MarketInput>): MarketCase {
  return (input, draw) => {
    const [more, less] = [20 * draw.whole(5, 15), 20 * draw.whole(0, 4)];
    const containers = ["app", "log"].map((name): RawContainer => ({
      name,
      resources: { requests: { cpu: "100m" }, limits: { cpu: "300m" } },
    }));
    return {
      ...input,
      ...bounds,
      pod: { spec: { containers } },
      wanted: { app: `${300 + more}m`, log: `${300 - less}m` },
    };
  };
}

/** The kubelet reports a resize without the generation that it is about. */
function withoutGeneration(reportedRequest: string, reportedLimit: string): MarketCase {
  return (input, draw) => ({
    ...input,
    pod: {
      spec: {
        containers: [{
          name: "app",
          resources: { requests: { cpu: "100m" }, limits: { cpu: "300m" } },
        }],
      },
      status: {
        conditions: [{
          status: "True",
          ...draw.oneOf([
            { type: "PodResizePending", reason: "Deferred", message: "no room" },
            { type: "PodResizeInProgress", reason: "Error", message: "it failed" },
          ]),
        }],
        containerStatuses: [{
          name: "app",
          resources: { requests: { cpu: reportedRequest }, limits: { cpu: reportedLimit } },
          allocatedResources: { cpu: reportedRequest },
        }],
      },
    },
    wanted: { app: "300m" },
  });
}

/** The quota leaves exactly what is wanted, which is no multiple of 10m. */
const exactRoom: MarketCase = () => ({
  pod: {
    spec: {
      containers: [{
        name: "app",
        resources: { requests: { cpu: "100m" }, limits: { cpu: "300m" } },
      }],
    },
  },
  wanted: { app: "405m" },
  quota: { hard: { "limits.cpu": "405m" }, used: { "limits.cpu": "300m" } },
});

const terminating: MarketCase = (input) =>
  withPod(input, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  }));

const withoutNode: MarketCase = (input) =>
  withPod(input, (pod) => ({ ...pod, spec: { ...pod.spec, nodeName: "" } }));

/** Some copies of the API's objects are not up to date. */
const outOfSync: MarketCase = (input, draw) => ({
  ...input,
  outOfSync: draw.oneOf([["namespaces"], ["limitRanges", "resourceQuotas"]]),
});

/** A LimitRange leaves a limit that is the request, in a pod with memory that is Guaranteed. */
const clampedToRequest: MarketCase = (_input, draw) => {
  const cpu = `${100 * draw.whole(1, 3)}m`;
  const requests = { cpu, memory: "64Mi" };
  return {
    pod: {
      spec: {
        containers: [{
          name: "app",
          resources: { requests, limits: { ...requests, cpu: "400m" } },
        }],
      },
    },
    wanted: { app: "600m" },
    limitRange: [{ type: "Container", max: { cpu } }],
  };
};

/** Each case, and how often it is drawn. */
export const CHAIN_CASES: readonly DrawnCase<MarketInput>[] = [
  [restored(otherIdentity), 3],
  [restored(notRunning), 3],
  [restored(restarts), 3],
  [restored(memoryDefault), 2],
  [restored(changedMeanwhile), 6],
  [restored(notYetItsTurn), 3],
  [byPerson(notRunning), 3],
  ...PLATFORM.map((one) => [byPerson(one), 2] as const),
  [byPerson(restarts), 3],
  [byPerson(otherClass), 4],
  [byPerson(wantsSpec), 2],
  [byPerson(memoryDefault), 2],
  [byPerson(limitRange), 5],
  [byPerson(quota), 5],
  [byPerson(changedMeanwhile), 3],
  [
    byPerson(
      twoContainers({ quota: { hard: { "limits.cpu": "700m" }, used: { "limits.cpu": "600m" } } }),
    ),
    4,
  ],
  [twoContainers({ limitRange: [{ type: "Pod", max: { cpu: "700m" } }] }), 4],
  [withoutGeneration("100m", "200m"), 4],
  [withoutGeneration("50m", "200m"), 4],
  [withoutGeneration("50m", "300m"), 2],
  [byPerson(exactRoom), 1],
  [terminating, 1],
  [withoutNode, 1],
  [(input) => ({ ...input, marketMissing: true }), 2],
  [outOfSync, 8],
  [(input) => ({ ...input, settings: { maxStep: 1.5 } }), 5],
  [(input, draw) => ({ ...input, oscillatingMs: 1000 * draw.whole(1, 300) }), 9],
  [twoContainers({ oscillatingMs: 60_000 }), 3],
  [(input, draw) => ({ ...input, restMs: 20 * draw.whole(1, 50) }), 3],
  [clampedToRequest, 2],
  [byPerson(clampedToRequest), 2],
];
