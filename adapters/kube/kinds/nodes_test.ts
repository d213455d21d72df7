import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parseNode, parseNodeTerms, parsePersistentVolume } from "./nodes.ts";

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const metadata = { ...identity, labels: { app: "web" } };

const zoneTerm = { matchExpressions: [{ key: "zone", operator: "In", values: ["a", ""] }] };

pure("parseNode() reads allocatable CPU, readiness and pressures", () => {
  const conditions = [
    { type: "Ready", status: "True" },
    { type: "MemoryPressure", status: "True" },
    { type: "DiskPressure", status: "Unknown" },
  ];
  const node = parseNode({ metadata, status: { allocatable: { cpu: "3920m" }, conditions } });
  assert.deepEqual(node, {
    metadata: identity,
    allocatableCPU: 3920,
    ready: true,
    pressures: ["MemoryPressure"],
    labels: { app: "web" },
  });
  assert.deepEqual(parseNode({ metadata: identity }), {
    metadata: identity,
    allocatableCPU: 0,
    ready: false,
    pressures: [],
  });
});

pure("parseNode() takes a node for draining that an autoscaler will remove", () => {
  const draining = (spec: unknown): unknown => parseNode({ metadata, spec }).draining;
  assert.equal(draining({ unschedulable: true }), undefined);
  for (const key of ["ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"]) {
    assert.equal(draining({ taints: [{ key: "other" }, { key, effect: "NoSchedule" }] }), true);
  }
  const standing = [undefined, {}, { unschedulable: false }, { taints: [{ key: "gpu" }] }];
  for (const spec of standing) assert.ok(!("draining" in parseNode({ metadata, spec })));
});

pure("parseNode() reads since when a node is cordoned", () => {
  const key = "node.kubernetes.io/unschedulable";
  const taints = [{ key: "gpu" }, { key, timeAdded: "2026-01-01T00:00:00Z" }];
  const since = (spec: unknown): unknown => parseNode({ metadata, spec }).cordonedAtMs;
  assert.equal(since({ unschedulable: true, taints }), Date.UTC(2026, 0, 1));
  // The taint is taken off a moment after the cordon.
  assert.equal(since({ taints }), undefined);
  assert.equal(since({ unschedulable: true }), undefined);
});

pure("parseNode() reads the kubelet's version", () => {
  const nodeInfo = { kubeletVersion: "v1.36.3" };
  assert.equal(parseNode({ metadata, status: { nodeInfo } }).kubeletVersion, "v1.36.3");
});

pure("parseNode() keeps the operating system where it is not Linux", () => {
  const os = (name?: string) =>
    parseNode({
      metadata: { ...identity, labels: name === undefined ? {} : { "kubernetes.io/os": name } },
    }).os;
  assert.deepEqual([os(), os("linux"), os("windows")], [undefined, undefined, "windows"]);
});

pure("parseNode() reads labels, cordon, taints, and conditions that are none of its others", () => {
  const node = parseNode({
    metadata: { ...identity, labels: { zone: "a" } },
    spec: {
      unschedulable: true,
      taints: [{ key: "gone", effect: "NoSchedule" }, { key: "k", value: "v", effect: "x" }],
    },
    status: {
      conditions: [
        { type: "Ready", status: "True" },
        { type: "DiskPressure", status: "True" },
        { type: "PreemptScheduled", status: "True" },
        { type: "FreezeScheduled", status: "False" },
      ],
    },
  });
  assert.deepEqual(node.labels, { zone: "a" });
  assert.equal(node.cordoned, true);
  assert.deepEqual(node.taints, [
    { key: "gone", value: "", effect: "NoSchedule" },
    { key: "k", value: "v", effect: "x" },
  ]);
  assert.deepEqual(node.alarms, ["PreemptScheduled"]);
  const plain = parseNode({ metadata: identity });
  for (const name of ["labels", "cordoned", "taints", "alarms"]) assert.ok(!(name in plain), name);
});

pure("parsePersistentVolume() reads its claim and its nodes", () => {
  const spec = {
    claimRef: { namespace: "shop", name: "data" },
    nodeAffinity: { required: { nodeSelectorTerms: [zoneTerm] } },
  };
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec }), {
    metadata: identity,
    claim: "shop/data",
    nodes: [[{ key: "zone", operator: "In", values: ["a", ""] }]],
  });
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec: {} }), { metadata: identity });
  // Its claim is gone, and another one of that name has nothing to do with it.
  const released = { metadata: identity, spec, status: { phase: "Released" } };
  assert.equal(parsePersistentVolume(released).claim, undefined);
});

pure("parseNode() reads allocatable memory, and 0 CPU before the kubelet reports it", () => {
  const of = (status: object) => parseNode({ metadata: identity, status });
  assert.equal(of({ allocatable: { cpu: "2", memory: "1Mi" } }).allocatableMemory, 2 ** 20);
  const fresh = of({});
  assert.equal(fresh.allocatableCPU, 0);
  assert.ok(!("allocatableMemory" in fresh));
});

pure("parseNodeTerms() reads names of nodes as labels of hosts", () => {
  assert.equal(parseNodeTerms(undefined), undefined);
  const byName = { key: "metadata.name", operator: "In", values: ["n1"] };
  assert.deepEqual(parseNodeTerms({ nodeSelectorTerms: [{ matchFields: [byName] }] }), [
    [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }],
  ]);
});
