import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { DEFAULT_MARKET_CONFIG } from "../../config.ts";
import type { Caches } from "../../caches.ts";
import { createQuotaBids } from "./quota_bids.ts";
import { pure } from "../../../tests/fixtures/pure.ts";

function cacheOf<T extends ApiObject>(...objects: readonly T[]): Informer<T> {
  const byKey = new Map(objects.map((one) => [objectKey(one.metadata), one]));
  return {
    get: (key) => byKey.get(key),
    all: () => objects.values(),
    byIndex: () => [],
    synced: true,
    whenSynced: () => Promise.resolve(true),
    subscribe: () => () => {},
    run: () => Promise.resolve(),
  };
}

interface Choice {
  readonly container?: ContainerFields;
  readonly pod?: Partial<Pod>;
  /** The original limit on record. */
  readonly own?: string;
  readonly burstFactor?: number;
  readonly draining?: boolean;
}

/** The bids of a pod of one container: 100 m requested, a limit of 200 m, on a node of 4 cores. */
function bidsOf({ container = {}, pod: change = {}, own, burstFactor = 4, draining }: Choice = {}) {
  const bare = samplePod("web", { containers: [sampleContainer(container)] });
  const pod: Pod = { ...bare, phase: "Running", ...change };
  const allocation: PodAllocation = {
    ...sampleAllocation(pod),
    ...(own === undefined ? {} : { status: { originalLimits: [{ name: "app", cpu: own }] } }),
  };
  const node = sampleNode("node-1");
  const caches: Caches = {
    pods: cacheOf(pod),
    allocations: cacheOf(allocation),
    nodes: cacheOf(draining ? { ...node, draining } : node),
    namespaces: cacheOf(),
    leases: cacheOf(),
    limitRanges: cacheOf(),
    resourceQuotas: cacheOf(),
    deployments: cacheOf(),
    statefulSets: cacheOf(),
    daemonSets: cacheOf(),
    horizontalPodAutoscalers: cacheOf(),
    verticalPodAutoscalers: cacheOf(),
  };
  const config = { ...DEFAULT_MARKET_CONFIG, burstFactor };
  return createQuotaBids({ caches, clock: { wall: () => 0 }, config })("shop/web")
    .map(({ weight, floor, ceiling }) => [weight, floor, ceiling]);
}

pure("createQuotaBids() bids from the original limit to the ceiling, by weight", () => {
  assert.deepEqual(bidsOf(), [[100, 200, 800]]);
  assert.deepEqual(bidsOf({ burstFactor: 8, pod: { priority: 2000 } }), [[150, 200, 1600]]);
  // The limit that the market has set says nothing.
  assert.deepEqual(bidsOf({ container: { limits: { cpu: 700 } }, own: "200m" }), [[100, 200, 800]]);
  const annotations = { "mbcas.io/max-cpu": "150m" };
  const { metadata } = samplePod("web");
  assert.deepEqual(bidsOf({ pod: { metadata: { ...metadata, annotations } } }), [[100, 150, 150]]);
});

pure("createQuotaBids() bids the same before a pod runs", () => {
  assert.deepEqual(bidsOf({ pod: { phase: "Pending" } }), bidsOf());
  assert.deepEqual(bidsOf({ container: { containerID: "containerd://a" } }), bidsOf());
});

pure("createQuotaBids() bids what a container keeps in any case", () => {
  const raised = { container: { requests: {}, limits: { cpu: 700 } }, own: "200m" };
  assert.deepEqual(bidsOf({ ...raised, draining: true }), [[100, 700, 700]]);
  const priorityClassName = "system-node-critical";
  assert.deepEqual(bidsOf({ ...raised, pod: { priorityClassName } }), [[100, 700, 800]]);
});

pure("createQuotaBids() bids nothing for limits that stay", () => {
  const { metadata } = samplePod("web");
  assert.deepEqual(bidsOf({ pod: { metadata: { ...metadata, terminating: true } } }), []);
  assert.deepEqual(bidsOf({ pod: { podLevel: { requests: {}, limits: { cpu: 600 } } } }), []);
  assert.deepEqual(bidsOf({ container: { limitManagers: ["mbcas"] } }), []);
  const labels = { "mbcas.io/managed": "false" };
  assert.deepEqual(bidsOf({ pod: { metadata: { ...metadata, labels } } }), []);
});
