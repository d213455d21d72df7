/** Nodes, namespaces, LimitRanges, quotas and Leases: how each is read. */
import assert from "node:assert/strict";
import type { ApiObject, ListWatch } from "../../shared/control/list_watch.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { allocationListWatch } from "./allocations.ts";
import type { KubeConnection } from "./connection.ts";
import { leaseListWatch, parseLease } from "./leases.ts";
import { limitRangeListWatch, parseLimitRange } from "./limit_ranges.ts";
import { formatMicroTime, parseTime } from "./micro_time.ts";
import { namespaceListWatch, parseNamespace } from "./namespaces.ts";
import { nodeListWatch, parseNode } from "./nodes.ts";
import { parseResourceQuota, resourceQuotaListWatch } from "./resource_quotas.ts";

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const metadata = { ...identity, namespace: "shop", labels: { app: "web" } };
const namespaced = { ...identity, namespace: "shop" };

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

pure("parseNode() keeps a node whose CPU can't be read, with all else", () => {
  const conditions = [{ type: "Ready", status: "True" }];
  for (const allocatable of [{ cpu: "many" }, { cpu: {} }, { cpu: "-1" }, "4"]) {
    const { unreadable = "", ...rest } = parseNode({
      metadata,
      status: { allocatable, conditions },
    });
    assert.match(unreadable, /^Cannot (parse|read) /);
    assert.deepEqual(rest, {
      metadata: identity,
      allocatableCPU: 0,
      ready: true,
      pressures: [],
      labels: { app: "web" },
    });
  }
  const dull = parseNode({ metadata, status: { allocatable: { cpu: "2", memory: "x" } } });
  assert.deepEqual([dull.unreadable, dull.allocatableCPU], [undefined, 2000]);
  assert.ok(!("allocatableMemory" in dull));
  const told = parseNode({ metadata, status: { allocatable: { cpu: "2", memory: "1Mi" } } });
  assert.equal(told.allocatableMemory, 2 ** 20);
});

pure("parseNode() takes a node for draining that an autoscaler will remove", () => {
  const draining = (spec: unknown): unknown => parseNode({ metadata, spec }).draining;
  assert.equal(draining({ unschedulable: true }), undefined);
  for (const key of ["ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"]) {
    assert.equal(draining({ taints: [{ key: "other" }, { key, effect: "NoSchedule" }] }), true);
  }
  const standing = [undefined, {}, { unschedulable: false }, { taints: [{ key: "gpu" }, {}, 5] }];
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
  assert.equal(since({ unschedulable: true, taints: [{ key, timeAdded: "soon" }] }), undefined);
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

pure("parseNamespace() reads labels and annotations", () => {
  const annotations = { note: "b", odd: 5 };
  assert.deepEqual(parseNamespace({ metadata: { ...metadata, annotations } }).metadata, {
    ...identity,
    labels: { app: "web" },
    annotations: { note: "b" },
  });
});

pure("parseLimitRange() keeps the items that bound CPU or memory, or have defaults", () => {
  const limits = [
    { type: "Container", min: { cpu: "50m" }, max: { cpu: "2" }, default: { cpu: "1" } },
    { type: "Pod", maxLimitRequestRatio: { cpu: "2500m" } },
    { type: "Container", max: { memory: "1Gi" } },
    { type: "Container", max: { "ephemeral-storage": "1Gi" } },
    { type: "Pod", min: { memory: "1" }, maxLimitRequestRatio: { memory: "1500m", cpu: "3" } },
    { type: "Container", default: { memory: "1Gi" }, defaultRequest: { "example.com/gpu": 1 } },
    { type: "Pod", max: { cpu: "4" }, default: { cpu: "1" } },
    { type: "PersistentVolumeClaim", max: { cpu: "1" } },
  ];
  assert.deepEqual(parseLimitRange({ metadata, spec: { limits } }), {
    metadata: namespaced,
    items: [
      { type: "Container", min: 50, max: 2000, defaults: { "limits.cpu": "1" } },
      { type: "Pod", ratio: 2.5 },
      { type: "Container", memory: { max: 2 ** 30 } },
      { type: "Pod", ratio: 3, memory: { min: 1, ratio: 1.5 } },
      {
        type: "Container",
        defaults: { "limits.memory": "1Gi", "requests.example.com/gpu": "1" },
      },
      { type: "Pod", max: 4000 },
    ],
  });
  assert.throws(() => parseLimitRange({ metadata: identity }), { message: /metadata\.namespace/ });
});

pure("parseResourceQuota() prefers what the server enforces to what was asked for", () => {
  const spec = {
    hard: { "limits.cpu": "10" },
    scopes: ["NotTerminating"],
    scopeSelector: {
      matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high", "low"] }],
    },
  };
  const scopes = [
    { name: "NotTerminating", operator: "Exists", values: [] },
    { name: "PriorityClass", operator: "In", values: ["high", "low"] },
  ];
  assert.deepEqual(parseResourceQuota({ metadata, spec }), {
    metadata: namespaced,
    hardLimitsCPU: 10_000,
    usedLimitsCPU: 0,
    scopes,
  });
  const status = { hard: { "limits.cpu": "8" }, used: { "limits.cpu": "1500m" } };
  const known = parseResourceQuota({ metadata, spec, status });
  assert.deepEqual([known.hardLimitsCPU, known.usedLimitsCPU], [8000, 1500]);
  const other = parseResourceQuota({ metadata, spec: { hard: { pods: "5" } } });
  assert.ok(!("hardLimitsCPU" in other));
});

pure("parseLimitRange() and parseResourceQuota() say what can't be read: it is not nothing", () => {
  const faults = (limits: unknown): string | undefined =>
    parseLimitRange({ metadata, spec: { limits } }).unreadable;
  assert.match(faults([{ type: "Pod", max: { cpu: "two" } }]) ?? "", /CPU quantity: "two" is not/);
  assert.match(faults([{ type: "Pod", min: { cpu: ["1"] } }]) ?? "", /quantity cpu: /);
  assert.match(faults([{ type: 5 }]) ?? "", /type is "5"/);
  assert.match(faults({ type: "Pod" }) ?? "", /limits is "\{/);
  assert.match(faults([{ type: "Container", default: { cpu: [] } }]) ?? "", /default of "cpu"/);
  assert.match(faults([{ type: "Container", defaultRequest: 5 }]) ?? "", /defaultRequest is "5"/);
  assert.equal(faults(undefined), undefined);
  assert.equal(parseLimitRange({ metadata }).unreadable, undefined);
  assert.throws(() => parseLimitRange({ spec: { limits: 5 } }), TypeError);
  const quota = (hard: unknown, used?: unknown) =>
    parseResourceQuota({ metadata, spec: { hard }, status: { used } });
  const { unreadable: negative = "", ...readable } = quota({ "limits.cpu": "-1" });
  assert.match(negative, /CPU quantity: "-1"/);
  assert.deepEqual(readable, { metadata: namespaced, usedLimitsCPU: 0, scopes: [] });
  assert.match(quota("all").unreadable ?? "", /hard is/);
  assert.match(quota({ "limits.cpu": "1" }, { "limits.cpu": {} }).unreadable ?? "", /limits\.cpu/);
  assert.equal(quota({ "limits.memory": {} }).unreadable, undefined);
});

pure("parseLimitRange() and parseResourceQuota() read all else where memory can't be read", () => {
  const limits = [
    { type: "Container", max: { cpu: "1", memory: "much" } },
    { type: "Pod", max: { memory: "1Gi" } },
  ];
  const range = parseLimitRange({ metadata, spec: { limits } });
  const { unreadableMemory: ofRange = "", ...rest } = range;
  assert.match(ofRange, /memory quantity: "much"/);
  assert.deepEqual(rest, {
    metadata: namespaced,
    items: [{ type: "Container", max: 1000 }],
  });
  const hard = { "limits.cpu": "1", "requests.memory": "1Gi", "limits.memory": {} };
  const quota = parseResourceQuota({ metadata, spec: { hard } });
  const { unreadableMemory: ofQuota = "", ...others } = quota;
  assert.match(ofQuota, /limits\.memory/);
  assert.deepEqual(others, {
    metadata: namespaced,
    hardLimitsCPU: 1000,
    usedLimitsCPU: 0,
    scopes: [],
  });
});

pure("parseResourceQuota() reads what is left of memory, of both names the tighter", () => {
  const of = (hard: Record<string, string>, used: Record<string, string> = {}) =>
    parseResourceQuota({ metadata, spec: { hard }, status: { hard, used } }).memory;
  assert.equal(of({ "limits.cpu": "1" }), undefined);
  assert.deepEqual(of({ "limits.memory": "1Ki" }, { "limits.memory": "24" }), {
    limits: { hard: 1024, used: 24 },
  });
  const both = { memory: "3k", "requests.memory": "2k" };
  assert.deepEqual(of(both, { memory: "2500", "requests.memory": "1k" }), {
    requests: { hard: 3000, used: 2500 },
  });
  const far = "9223372036854775807";
  assert.deepEqual(of({ memory: far }), { requests: { hard: Number.MAX_SAFE_INTEGER, used: 0 } });
});

pure("parseLimitRange() and parseResourceQuota() take what nobody can reach for a bound", () => {
  const far = "9223372036854775807";
  const limits = [{ type: "Container", max: { cpu: far } }];
  const max = Number.MAX_SAFE_INTEGER;
  const { items, unreadable } = parseLimitRange({ metadata, spec: { limits } });
  assert.deepEqual([items, unreadable], [[{ type: "Container", max }], undefined]);
  const quota = parseResourceQuota({ metadata, spec: { hard: { "limits.cpu": far } } });
  assert.deepEqual([quota.hardLimitsCPU, quota.unreadable], [max, undefined]);
});

pure("parseResourceQuota() reads both names of CPU requests, and keeps to the tighter", () => {
  const of = (hard: Record<string, string>, used: Record<string, string> = {}) =>
    parseResourceQuota({ metadata, spec: { hard }, status: { hard, used } }).requestsCPU;
  assert.deepEqual(of({ "requests.cpu": "2" }, { "requests.cpu": "500m" }), {
    hard: 2000,
    used: 500,
  });
  assert.deepEqual(of({ cpu: "1" }), { hard: 1000, used: 0 });
  const both = { cpu: "3", "requests.cpu": "2" };
  assert.deepEqual(of(both, { cpu: "1", "requests.cpu": "1" }), { hard: 2000, used: 1000 });
  assert.equal(of({ "limits.cpu": "2" }), undefined);
});

pure("parseLease() reads a record, and one that nobody holds", () => {
  const spec = {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "1970-01-01T00:00:01.000000Z",
    renewTime: "1970-01-01T00:00:02.250000Z",
    leaseTransitions: 4,
  };
  assert.deepEqual(parseLease({ metadata, spec }), {
    metadata: namespaced,
    holder: "a",
    durationSeconds: 15,
    acquireTimeMs: 1000,
    renewTimeMs: 2250,
    transitions: 4,
  });
  assert.deepEqual(parseLease({ metadata, spec: { renewTime: "never" } }), {
    metadata: namespaced,
    holder: "",
    durationSeconds: 0,
    acquireTimeMs: undefined,
    renewTimeMs: undefined,
    transitions: 0,
  });
});

pure("formatMicroTime() writes six decimals, which parseTime() reads again", () => {
  assert.equal(formatMicroTime(0), "1970-01-01T00:00:00.000000Z");
  assert.equal(formatMicroTime(1_767_225_600_123), "2026-01-01T00:00:00.123000Z");
  assert.equal(parseTime(formatMicroTime(1_767_225_600_123)), 1_767_225_600_123);
  assert.equal(parseTime(5), undefined);
});

const LISTS: Readonly<Record<string, (connection: KubeConnection) => ListWatch<ApiObject>>> = {
  "/api/v1/nodes": nodeListWatch,
  "/api/v1/namespaces": namespaceListWatch,
  "/api/v1/limitranges": limitRangeListWatch,
  "/api/v1/resourcequotas": resourceQuotaListWatch,
  "/apis/coordination.k8s.io/v1/namespaces/mbcas-system/leases": (connection) =>
    leaseListWatch(connection, { namespace: "mbcas-system" }),
  "/apis/allocation.mbcas.io/v1alpha1/podallocations": (connection) =>
    allocationListWatch(connection, { nodeName: "node-1" }),
};

for (const [path, open] of Object.entries(LISTS)) {
  Deno.test(`list() of ${path} leaves out what it can't read`, async () => {
    await using server = serveCanned(() => ({ metadata: { resourceVersion: "9" }, items: [{}] }));
    const listed = await open(server.connection).list(new AbortController().signal);
    assert.deepEqual(listed, { items: [], resourceVersion: "9" });
    assert.equal(server.requests[0]?.path, path);
  });
}
