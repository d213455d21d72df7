/**
 * Odd allocations, annotations, and objects of kinds with a schema that is not ours: limits stay within
 * bounds, and other pods are served.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { textsOf } from "../../adapters/kube/client/json_fields.ts";
import {
  parseHorizontalPodAutoscaler,
  parseVerticalPodAutoscaler,
} from "../../adapters/kube/kinds/autoscalers.ts";
import {
  parseLimitRange,
  parseNamespace,
  parseResourceQuota,
} from "../../adapters/kube/kinds/namespaces.ts";
import { parseNode } from "../../adapters/kube/kinds/nodes.ts";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import { parseWorkload } from "../../adapters/kube/kinds/workloads.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { MAX_CPU } from "../../shared/api/market_keys.ts";
import { originalsOf } from "../../controller/allocation/original_limits.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ObjectTable } from "../../lab/simulation/api/object_store.ts";
import { sampleContainer, samplePod } from "../contract/support/sample_objects.ts";
import { mutatedJSON } from "../fixtures/mutated_json.ts";
import { RAW_OBJECTS } from "../fixtures/raw_objects.ts";
import { WRITTEN } from "../fixtures/market/bids_arbitrary.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** A log that keeps the failed reconciles; `taken` returns those since it was called last. */
function failureLog(): { readonly log: Log; readonly taken: () => readonly unknown[] } {
  const failures: unknown[] = [];
  const keep: Log["warn"] = (message, fields) => {
    if (message === "Reconciling failed") failures.push(fields);
  };
  const log = { ...silentLog, debug: keep, info: keep, warn: keep, error: keep };
  return { log, taken: () => failures.splice(0) };
}

/** A pod that takes part, and what leaves its limit free while it is whole. */
const { deletionTimestamp: _ending, managedFields: _managed, ...METADATA } =
  RAW_OBJECTS.Pod.metadata;
const { resources: _whole, ...SPEC } = RAW_OBJECTS.Pod.spec;
const { containerStatuses, initContainerStatuses: [looping] } = RAW_OBJECTS.Pod.status;
const [{ state }] = containerStatuses;
const STATUS = { ...RAW_OBJECTS.Pod.status, initContainerStatuses: [{ ...looping, state }] };
const LIVE = { ...RAW_OBJECTS.Pod, metadata: METADATA, spec: SPEC, status: STATUS };
const [OF_CONTAINERS, OF_PODS] = RAW_OBJECTS.LimitRange.spec.limits;
const ROOMY = { ...OF_PODS, maxLimitRequestRatio: { ...OF_PODS.maxLimitRequestRatio, cpu: "20" } };
const { status: _underWay, ...ROLLED_OUT } = RAW_OBJECTS.Deployment;
const { targetRef } = RAW_OBJECTS.VerticalPodAutoscaler.spec;
/** A VPA that leaves the pod alone. */
const IDLE = {
  ...RAW_OBJECTS.VerticalPodAutoscaler,
  spec: { targetRef, updatePolicy: { updateMode: "Off" } },
};

const READERS = {
  Pod: parsePod,
  Namespace: parseNamespace,
  Node: parseNode,
  Deployment: (raw: unknown) => parseWorkload(raw, "Deployment"),
  HorizontalPodAutoscaler: parseHorizontalPodAutoscaler,
  VerticalPodAutoscaler: parseVerticalPodAutoscaler,
  LimitRange: parseLimitRange,
  ResourceQuota: parseResourceQuota,
} as const;
type Kind = keyof typeof READERS;

/** The object, or with odd annotations, which the server does not validate. */
function maybeOdd(
  raw: { readonly metadata: Readonly<Record<string, unknown>>; readonly [key: string]: unknown },
): fc.Arbitrary<unknown> {
  const odd = mutatedJSON(raw.metadata["annotations"]).map((annotations) => ({
    ...raw,
    metadata: { ...raw.metadata, annotations: textsOf(annotations) },
  }));
  return fc.oneof(odd, fc.constant(raw));
}

/** The odd objects of a case; some kinds have none. */
const OBJECTS: fc.Arbitrary<Partial<Record<Kind, unknown>>> = fc.record({
  Pod: maybeOdd(LIVE),
  Namespace: maybeOdd(RAW_OBJECTS.Namespace),
  Node: fc.constant({ ...RAW_OBJECTS.Node, spec: {} }),
  Deployment: maybeOdd({ ...ROLLED_OUT, status: { replicas: 3, updatedReplicas: 3 } }),
  HorizontalPodAutoscaler: maybeOdd(RAW_OBJECTS.HorizontalPodAutoscaler),
  VerticalPodAutoscaler: mutatedJSON(IDLE).map((raw) => ({
    ...Object(raw),
    metadata: IDLE.metadata,
  })),
  LimitRange: fc.constant({ ...RAW_OBJECTS.LimitRange, spec: { limits: [OF_CONTAINERS, ROOMY] } }),
  ResourceQuota: fc.constant(RAW_OBJECTS.ResourceQuota),
}, { requiredKeys: ["Pod"] });

const NAMES: Partial<Record<Kind, string>> = { Pod: "web-0", Namespace: "shop", Node: "node-1" };

/** Puts what is readable where it belongs together. */
function addObjects({ tables }: ControllerScene, objects: Partial<Record<Kind, unknown>>): void {
  for (const [kind, raw] of Object.entries(objects) as [Kind, unknown][]) {
    const object: ApiObject = READERS[kind](raw);
    const place = object.metadata.namespace === undefined ? {} : { namespace: "shop" };
    const name = NAMES[kind] ?? "web";
    const metadata = { ...object.metadata, ...place, name, uid: "", resourceVersion: "" };
    const table = tables[kind] as unknown as ObjectTable<ApiObject>;
    const key = objectKey(metadata);
    if (table.get(key) !== undefined) table.remove(key);
    const node = kind === "Pod" ? { nodeName: "node-1" } : {};
    table.seed({ ...object, ...node, metadata });
  }
}

function clear({ tables }: ControllerScene): void {
  for (const kind of Object.keys(READERS) as Kind[]) {
    if (kind === "Node" || kind === "Namespace") continue;
    const table = tables[kind] as unknown as ObjectTable<ApiObject>;
    for (const { metadata } of table.all()) {
      if (metadata.namespace === "shop") table.remove(objectKey(metadata));
    }
  }
}

/**
 * Fails unless each limit is within its bounds, or as it was where it is held or no other is requested;
 * and unless the original limits are on record as they were.
 */
function assertBounded(scene: ControllerScene, before: Pod): void {
  const { spec, status } = scene.allocation("web-0") ?? {};
  for (const { name, limits: { cpu: limitCPU } } of scene.pod("web-0").containers) {
    const bound = status?.bounds?.containers.find((one) => one.name === name);
    const same = before.containers.find((one) => one.name === name)?.limits.cpu === limitCPU;
    const within = bound !== undefined && limitCPU !== undefined && limitCPU >= bound.floor &&
      limitCPU <= bound.ceiling;
    const moves = status?.phase === "Applied" && bound !== undefined && bound.held === undefined &&
      spec?.containers?.some((one) => one.name === name) === true;
    assert.ok(within || (same && !moves), `${name} has ${limitCPU}m: ${JSON.stringify(status)}`);
  }
  const { originalLimits } = originalsOf(before);
  assert.deepEqual(status?.originalLimits ?? originalLimits, originalLimits);
}

loopTest("works with whatever is read of odd objects, and serves other pods", async (scene) => {
  const { log, taken: failures } = failureLog();
  const { Pod: pods, Namespace: namespaces } = scene.tables;
  const { metadata } = namespaces.get("shop") ?? assert.fail("the namespace is there");
  namespaces.create({ metadata: { ...metadata, name: "other", uid: "" } });
  scene.startController({}, { log });
  const containers = [sampleContainer({ containerID: "containerd://ab" })];
  const witness = samplePod("witness", { namespace: "other", nodeName: "node-2", containers });
  const { metadata: { uid } } = pods.seed({ ...witness, phase: "Running", ready: true });
  let cases = 0;
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(OBJECTS, fc.constantFrom(300, 800, 5000), async (objects, limit) => {
      addObjects(scene, objects);
      const before = pods.get("shop/web-0");
      scene.want("web-0", limit);
      const ceiling = 300 + 100 * (++cases % 2);
      pods.modify("other/witness", (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, annotations: { [MAX_CPU]: `${ceiling}m` } },
      }));
      await scene.pass(15_000);
      assert.deepEqual(failures(), []);
      const served = scene.tables.PodAllocation.get(`other/${uid}`)?.status?.bounds;
      assert.equal(served?.containers[0]?.ceiling, ceiling);
      if (before !== undefined && pods.get("shop/web-0") !== undefined) {
        assertBounded(scene, before);
        if (scene.limits("web-0").wanted !== before.containers[0]?.limits.cpu) moved++;
      }
      clear(scene);
      await scene.pass(3000);
    }),
  );
  // Two cases of five do on average; of 100 a sixth is almost five standard deviations less.
  assert.ok(moved > cases / 6, `${moved} of ${cases}`);
});

/** The record of a pod's original limits. */
const OWN = [{ name: "app", cpu: "200m" }, { name: "proxy", cpu: "200m" }];

/** Writes what the server takes of it; true when it takes it. */
function overwrite({ tables }: ControllerScene, key: string, written: object): boolean {
  try {
    tables.PodAllocation.modify(key, (stored) => {
      const { spec = {}, ...rest } = written as Partial<PodAllocation>;
      const next = { ...stored, ...rest, spec: { ...stored.spec, ...spec } };
      const { market } = next.spec;
      // The bounds that the agent would have seen: stale clearings are held for that alone.
      const observedBounds = next.status?.bounds?.revision;
      if (market === undefined || observedBounds === undefined) return next;
      return { ...next, spec: { ...next.spec, market: { ...market, observedBounds } } };
    });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return false;
    throw error;
  }
}

loopTest("keeps limits within bounds whatever is written into allocations", async (scene) => {
  const { log, taken: failures } = failureLog();
  scene.startController({}, { log });
  scene.createPod("witness");
  const counts = { cases: 0, taken: 0, moved: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(WRITTEN, { minLength: 1, maxLength: 3 }), async (writes) => {
      const name = `fuzzed-${++counts.cases}`;
      const containers = OWN.map(({ name }) =>
        sampleContainer({ name, limitManagers: ["kubectl-create"] })
      );
      const key = `shop/${scene.createPod(name, { containers }).metadata.uid}`;
      const witness = 200 + 100 * (1 + counts.cases % 2);
      scene.want("witness", witness);
      await scene.pass(5000);
      for (const written of writes) {
        if (overwrite(scene, key, written)) counts.taken++;
        const { containers: before } = scene.pod(name);
        await scene.pass(5000);
        const { originalLimits, bounds } = scene.status(name);
        // Whatever was written, the pod has its original limits itself.
        if (originalLimits !== undefined) assert.deepEqual(originalLimits, OWN);
        for (const [index, container] of scene.pod(name).containers.entries()) {
          const { requests: { cpu: request = 0 }, limits: { cpu: limit = 0 } } = container;
          assert.ok(limit >= request && limit <= 3600, `it has ${limit}m`);
          const present = before[index]?.limits.cpu;
          const bound = bounds?.containers.find((one) => one.name === container.name);
          const { floor = present, ceiling = present } = bound ?? {};
          assert.ok(floor !== undefined && ceiling !== undefined);
          assert.ok(limit >= floor && limit <= ceiling, `${limit}m: ${floor} ${ceiling}`);
          if (limit !== 200) counts.moved++;
        }
      }
      assert.deepEqual(failures(), []);
      assert.equal(scene.limits("witness").applied, witness);
      scene.tables.Pod.remove(`shop/${name}`);
      await scene.pass(3000);
    }),
  );
  // Otherwise nothing was tried.
  const { cases, taken, moved } = counts;
  assert.ok(taken > cases && moved > cases / 3, JSON.stringify(counts));
});
