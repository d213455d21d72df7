import assert from "node:assert/strict";
import type { Node } from "../../../shared/api/node.ts";
import { sampleNode, sampleQuota } from "../../../tests/contract/support/sample_objects.ts";
import {
  createNodeMemory,
  createQuotaMemory,
  createTargetMemory,
  createWorkloadMemory,
} from "./change_memory.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import { sampleVPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { VerticalPodAutoscaler } from "../../../shared/api/autoscalers.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Changes node `n` (undefined: takes it away) and asks. */
function nodeStage(first?: Node): (node: Node | undefined) => boolean {
  let present = first;
  const isAnother = createNodeMemory({
    all: () => present === undefined ? [] : [present],
    get: (name) => name === "n" ? present : undefined,
  });
  return (node) => {
    present = node;
    return isAnother("n");
  };
}

const NODE = sampleNode("n");

test("createNodeMemory() reports what concerns pods, and of nothing else", () => {
  const change = nodeStage(NODE);
  assert.equal(change(NODE), false);
  assert.equal(change({ ...NODE, allocatableCPU: 2000, pressures: ["MemoryPressure"] }), false);
  const others: readonly Partial<Node>[] = [
    { ready: false },
    { draining: true },
    { kubeletVersion: "v1.30.1" },
    { os: "windows" },
  ];
  for (const other of others) {
    assert.deepEqual([change({ ...NODE, ...other }), change({ ...NODE, ...other })], [true, false]);
    assert.equal(change(NODE), true);
  }
  // An upgrade from one kubelet that resizes to another is nothing to the pods.
  assert.equal(change({ ...NODE, kubeletVersion: "v1.35.0" }), false);
});

test("createNodeMemory() reports nodes that come and go, once", () => {
  const change = nodeStage();
  assert.deepEqual([change(NODE), change(NODE)], [true, false]);
  assert.deepEqual([change(undefined), change(undefined)], [true, false]);
  assert.deepEqual([change(NODE), change(NODE)], [true, false]);
});

Deno.test({
  name: "createQuotaMemory() reports what a quota allows from what is used of it",
  permissions: "none",
  fn() {
    let quota: ResourceQuota | undefined = sampleQuota();
    const isAnother = createQuotaMemory({ all: () => [].values(), get: () => quota });
    const after = (change: Partial<ResourceQuota> | undefined): boolean => {
      quota = change && sampleQuota(change);
      return isAnother("shop/cpu");
    };
    assert.ok(after({}));
    assert.ok(!after({ usedLimitsCPU: 900 }));
    assert.ok(after({ hardLimitsCPU: 900 }));
    assert.ok(after({ requestsCPU: { hard: 500, used: 0 } }));
    assert.ok(!after({ requestsCPU: { hard: 500, used: 100 } }));
    assert.ok(after({ scopes: [{ name: "Terminating", operator: "Exists", values: [] }] }));
    assert.ok(after(undefined));
    assert.ok(!after(undefined));
  },
});

const WORKLOAD_KEY = "shop/web";

function workloadStage(...present: Workload[]) {
  const objects = new Map(present.map((one) => [WORKLOAD_KEY, one]));
  const changed = createWorkloadMemory({
    get: (key) => objects.get(key),
    all: () => objects.values(),
  });
  return (workload: Workload | undefined): boolean => {
    if (workload === undefined) objects.delete(WORKLOAD_KEY);
    else objects.set(WORKLOAD_KEY, workload);
    return changed(WORKLOAD_KEY);
  };
}

test("createWorkloadMemory() reports workloads that come and go, once", () => {
  const change = workloadStage();
  assert.deepEqual([change(sampleWorkload()), change(sampleWorkload())], [true, false]);
  assert.deepEqual([change(undefined), change(undefined)], [true, false]);
});

test("createWorkloadMemory() reports when a rollout begins and ends, and of no pod in between", () => {
  const change = workloadStage(sampleWorkload());
  const counts = [[3, 3], [0, 4], [1, 4], [3, 4], [3, 3], [5, 5]] as const;
  assert.deepEqual(
    counts.map(([updated, total]) => change(sampleWorkload({ rollout: { updated, total } }))),
    [false, true, false, false, true, false],
  );
});

test("createWorkloadMemory() reports other annotations", () => {
  const change = workloadStage(sampleWorkload());
  const annotations = { "mbcas.io/hpa-coordination": "false" };
  assert.deepEqual([change(sampleWorkload({ annotations })), change(sampleWorkload())], [
    true,
    true,
  ]);
});

test("createWorkloadMemory() reports other labels", () => {
  const change = workloadStage(sampleWorkload());
  const { metadata, ...rest } = sampleWorkload();
  const labelled = { ...rest, metadata: { ...metadata, labels: { "mbcas.io/managed": "false" } } };
  assert.deepEqual([change(labelled), change(labelled), change(sampleWorkload())], [
    true,
    false,
    true,
  ]);
});

test("createWorkloadMemory() ignores labels and annotations that are not the market's, and about templates", () => {
  const own = { "mbcas.io/hpa-coordination": "false" };
  const change = workloadStage(sampleWorkload({ annotations: own }));
  const annotations = { ...own, "optipod.io/last-recommendation": "2026-01-02T03:04:05.000Z" };
  const { metadata, ...rest } = sampleWorkload({ annotations });
  const labelled = { ...rest, metadata: { ...metadata, labels: { app: "web" } } };
  assert.equal(change(labelled), false);
  const makes = { paused: false, replicas: 2, template: { containers: [], initContainers: [] } };
  assert.equal(change({ ...labelled, makes }), false);
  assert.equal(change({ ...labelled, unreadableTemplate: "Cannot read it" }), false);
  assert.equal(change(sampleWorkload()), true);
});

const TARGET_KEY = "shop/web-vpa";
const web = { kind: "Deployment", name: "web" };
const api = { kind: "StatefulSet", name: "api" };

function targetStage(...present: VerticalPodAutoscaler[]) {
  const objects = new Map(present.map((one) => [TARGET_KEY, one]));
  const targets = createTargetMemory({
    get: (key) => objects.get(key),
    all: () => objects.values(),
  });
  let version = 0;
  return {
    set(object: VerticalPodAutoscaler) {
      const metadata = { ...object.metadata, resourceVersion: `${++version}` };
      objects.set(TARGET_KEY, { ...object, metadata });
      return targets(TARGET_KEY);
    },
    remove() {
      objects.delete(TARGET_KEY);
      return targets(TARGET_KEY);
    },
  };
}

test("createTargetMemory() reports the target of an object that is new, changed or gone", () => {
  const { set, remove } = targetStage();
  assert.deepEqual(set(sampleVPA("Off")), [web]);
  assert.deepEqual(set(sampleVPA("Auto")), [web]);
  assert.deepEqual(remove(), [web]);
  assert.deepEqual(remove(), []);
});

test("createTargetMemory() reports both targets of an object that has moved", () => {
  const { set } = targetStage();
  set(sampleVPA("Auto"));
  assert.deepEqual(set(sampleVPA("Auto", { target: api })), [web, api]);
  assert.deepEqual(set(sampleVPA("Auto", { target: { ...api, kind: "Deployment" } })).length, 2);
});

test("createTargetMemory() says nothing of another version of the same", () => {
  const { set } = targetStage();
  set(sampleVPA("Auto"));
  assert.deepEqual(set(sampleVPA("Auto")), []);
});

test("createTargetMemory() knows what was there before", () => {
  const { set, remove } = targetStage(sampleVPA("Auto"));
  assert.deepEqual(set(sampleVPA("Auto")), []);
  assert.deepEqual(set(sampleVPA("Auto", { target: api })), [web, api]);
  assert.deepEqual(remove(), [api]);
});
