import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parseLimitRange, parseNamespace, parseResourceQuota } from "./namespaces.ts";

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const metadata = { ...identity, namespace: "shop", labels: { app: "web" } };
const namespaced = { ...identity, namespace: "shop" };

pure("parseNamespace() reads labels and annotations", () => {
  const annotations = { note: "b" };
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
    { type: "Container", default: { memory: "1Gi" }, defaultRequest: { "example.com/gpu": "1" } },
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

pure("parseLimitRange() reports a negative quantity, which the server does not reject", () => {
  const limits = [{ type: "Pod", min: { cpu: "-1" } }];
  const { unreadable = "", items } = parseLimitRange({ metadata, spec: { limits } });
  assert.match(unreadable, /CPU quantity: "-1"/);
  assert.deepEqual(items, []);
  assert.deepEqual(parseLimitRange({ metadata, spec: { limits: null } }).items, []);
});

pure(
  "parseLimitRange() and parseResourceQuota() cap a bound that is too large to be counted",
  () => {
    const far = "9223372036854775807";
    const limits = [{ type: "Container", max: { cpu: far } }];
    const max = Number.MAX_SAFE_INTEGER;
    assert.deepEqual(parseLimitRange({ metadata, spec: { limits } }).items, [
      { type: "Container", max },
    ]);
    const quota = parseResourceQuota({ metadata, spec: { hard: { "limits.cpu": far } } });
    assert.equal(quota.hardLimitsCPU, max);
  },
);

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
