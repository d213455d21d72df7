import assert from "node:assert/strict";
import type { Node } from "../../../shared/api/node.ts";
import { NO_RESOURCES, type Pod } from "../../../shared/api/pod.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { parseNode, parsePersistentVolume } from "./nodes.ts";
import { parsePod } from "./pods.ts";

const NAMED = {
  ...{ name: "web-0", namespace: "shop", uid: "u1", resourceVersion: "42", generation: 3 },
  ...{ labels: { app: "web" }, annotations: { "mbcas.io/max-cpu": "2" } },
};
const PENDING = {
  ...{ type: "PodResizePending", reason: "Deferred", message: "no room", observedGeneration: 3 },
};
const APP = 'k:{"name":"app"}';
const LIMIT = { "f:resources": { "f:limits": { "f:cpu": {} } } };

/** A running pod as a server of 1.36 gives it, cut to what matters. */
const RUNNING = {
  metadata: {
    ...NAMED,
    ownerReferences: [
      { apiVersion: "v1", kind: "Node", name: "n", uid: "u0" },
      { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u2", controller: true },
    ],
    managedFields: [
      { manager: "kubectl", fieldsV1: { "f:spec": { "f:containers": { [APP]: {} } } } },
      {
        ...{ manager: "mbcas", subresource: "resize" },
        fieldsV1: { "f:spec": { "f:containers": { [APP]: LIMIT } } },
      },
    ],
  },
  spec: {
    nodeName: "node-1",
    priority: 1000,
    containers: [{
      name: "app",
      resources: {
        requests: { cpu: "100m", memory: "64Mi" },
        limits: { cpu: "0.4", memory: "128Mi" },
      },
      resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
    }],
    initContainers: [
      { name: "setup", resources: { limits: { cpu: "1" } } },
      { name: "proxy", restartPolicy: "Always", resources: { limits: { cpu: "50m" } } },
    ],
  },
  status: {
    phase: "Running",
    qosClass: "Burstable",
    conditions: [
      { type: "Ready", status: "True" },
      { ...PENDING, status: "True" },
      { type: "PodResizeInProgress", status: "False" },
    ],
    containerStatuses: [{
      ...{ name: "app", ready: true, containerID: "containerd://ab" },
      resources: { limits: { cpu: "200m" } },
    }],
    initContainerStatuses: [{ name: "proxy", ready: true, containerID: "containerd://cd" }],
  },
};

pure("parsePod() keeps what the product uses of a running pod", () => {
  assert.deepEqual(parsePod(RUNNING), {
    metadata: {
      ...NAMED,
      terminating: false,
      owner: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u2" },
    },
    ...{ nodeName: "node-1", phase: "Running", qosClass: "Burstable", priority: 1000, ready: true },
    containers: [
      {
        ...{ name: "app", sidecar: false, containerID: "containerd://ab", ready: true },
        requests: { cpu: 100, memory: 64 * 2 ** 20 },
        limits: { cpu: 400, memory: 128 * 2 ** 20 },
        applied: { requests: {}, limits: { cpu: 200 } },
        ...{ restartsOnCPU: true, limitManagers: ["mbcas"] },
      },
      {
        ...{ name: "proxy", sidecar: true, containerID: "containerd://cd", ready: true },
        ...{ requests: {}, limits: { cpu: 50 }, applied: NO_RESOURCES, restartsOnCPU: false },
      },
    ],
    initContainers: [{
      ...{ name: "setup", sidecar: false, ready: false },
      ...{ requests: {}, limits: { cpu: 1000 }, applied: NO_RESOURCES, restartsOnCPU: false },
    }],
    resizeConditions: [PENDING],
  });
});

/** The running pod with these fields of its spec and status. */
const running = ({ spec = {}, status = {} }: { spec?: object; status?: object }) =>
  parsePod({
    ...RUNNING,
    spec: { ...RUNNING.spec, ...spec },
    status: { ...RUNNING.status, ...status },
  });

pure("parsePod() counts the sidecars before each other init container", () => {
  const sidecar = (name: string) => ({ name, restartPolicy: "Always" });
  const [first, second, third] = ["first", "second", "third"].map((name) => ({ name }));
  const initContainers = [first, sidecar("a"), second, sidecar("b"), third];
  const pod = running({ spec: { initContainers } });
  assert.deepEqual(
    pod.initContainers.map(({ name, sidecarsBefore }) => [name, sidecarsBefore]),
    [["first", undefined], ["second", 1], ["third", 2]],
  );
  assert.deepEqual(pod.containers.slice(-2).map(({ name }) => name), ["a", "b"]);
});

pure("parsePod() keeps what is allocated where a resize waits, failed, or names no version", () => {
  const allocated = (observedGeneration?: number, more: object = {}): unknown => {
    const type = "PodResizeInProgress";
    const condition = { type, status: "True", observedGeneration, ...more };
    const allocatedResources = { cpu: "50m", memory: "1Ki" };
    const status = {
      conditions: [condition],
      containerStatuses: [{ name: "app", allocatedResources }],
    };
    return running({ status }).containers[0]?.allocated;
  };
  assert.deepEqual(allocated(), { cpu: 50, memory: 1024 });
  assert.equal(allocated(3), undefined);
  for (const more of [{ type: "PodResizePending" }, { reason: "Error" }]) {
    assert.deepEqual(allocated(3, more), { cpu: 50, memory: 1024 });
  }
});

pure("parsePod() reads a pod that is not scheduled, and one that is terminating", () => {
  const { name, namespace, uid, resourceVersion } = RUNNING.metadata;
  const metadata = { name, namespace, uid, resourceVersion };
  const spec = { containers: [{ name: "a" }] };
  const fresh = { metadata, spec, status: { qosClass: "BestEffort" } };
  const pod = parsePod(fresh);
  assert.deepEqual(
    [pod.nodeName, pod.phase, pod.priority, pod.ready, pod.metadata.terminating],
    ["", "Unknown", 0, false, false],
  );
  const state = { sidecar: false, ready: false, restartsOnCPU: false };
  const resources = { ...NO_RESOURCES, applied: NO_RESOURCES };
  assert.deepEqual(pod.containers, [{ name: "a", ...state, ...resources }]);
  const ending = { ...fresh, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.equal(parsePod(ending).metadata.terminating, true);
});

pure("parsePod() takes the request that the kubelet allocated, or read from the cgroup", () => {
  const withStatus = (status: Readonly<Record<string, unknown>>) =>
    running({ status: { containerStatuses: [{ name: "app", ...status }] } })
      .containers[0]?.applied.requests.cpu;
  const resources = { requests: { cpu: "290m" }, limits: { cpu: "300m" } };
  assert.equal(withStatus({ resources, allocatedResources: { cpu: "300m" } }), 300);
  assert.equal(withStatus({ resources, allocatedResources: { memory: "1Mi" } }), 290);
  assert.equal(withStatus({ resources }), 290);
  assert.equal(withStatus({ resources: { limits: { cpu: "300m" } } }), undefined);
});

pure("parsePod() names a quantity that is too large to be counted", () => {
  const containers = [{ name: "a", resources: { limits: { cpu: "9007199254740992" } } }];
  assert.throws(() => parsePod({ ...RUNNING, spec: { containers } }), {
    name: "SyntaxError",
    message: /"9007199254740992"/,
  });
});

const TIME = "2026-01-01T00:00:02Z";
const AT_TIME = Date.UTC(2026, 0, 1, 0, 0, 2);
const ready = (status: string, lastTransitionTime: unknown) => ({
  status: { conditions: [{ type: "Ready", status, lastTransitionTime }] },
});
const scheduled = (reason: string) => ({
  status: {
    conditions: [{ type: "PodScheduled", status: "False", reason, lastTransitionTime: TIME }],
  },
});
const zone = { key: "zone", operator: "In", values: ["a", ""] };
const nodeAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [zone] }],
  },
};
const spot = { "karpenter.sh/capacity-type": "spot" };

pure("parsePod() reads fields that many pods do not have, and leaves them out there", () => {
  const claims = [{ emptyDir: {} }, { persistentVolumeClaim: { claimName: "data" } }];
  const resources = { limits: { cpu: "1", memory: "1Gi" } };
  const podLevel = { requests: {}, limits: { cpu: 1000, memory: 2 ** 30 } };
  const inUse = { nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: "cores" }] };
  const rows: readonly (readonly [
    name: keyof Pod,
    value: unknown,
    given: { readonly spec?: object; readonly status?: object },
  ])[] = [
    ["windows", true, { spec: { os: { name: "windows" } } }],
    ["windows", undefined, { spec: { os: { name: "linux" } } }],
    ["overheadCPU", 250, { spec: { overhead: { cpu: "250m", memory: "120Mi" } } }],
    ["podLevel", podLevel, { spec: { resources } }],
    ["podLevel", undefined, { spec: { resources: {} } }],
    ["claimsNodeResources", true, { status: inUse }],
    ["claimsNodeResources", undefined, { spec: { resourceClaims: [{}] } }],
    ["priorityClassName", "high", { spec: { priorityClassName: "high" } }],
    ["readySinceMs", AT_TIME, ready("True", TIME)],
    ["readySinceMs", undefined, ready("False", TIME)],
    ["readySinceMs", undefined, ready("Unknown", TIME)],
    ["readySinceMs", undefined, ready("True", null)],
    ["startTimeMs", AT_TIME, { status: { startTime: TIME } }],
    ["startTimeMs", undefined, { status: { startTime: null } }],
    ["hasDeadline", true, { spec: { activeDeadlineSeconds: 0 } }],
    ["nodeSelector", spot, { spec: { nodeSelector: spot } }],
    ["nodeSelector", undefined, { spec: { nodeSelector: {} } }],
    ["requiredNodes", [[zone]], { spec: { affinity: { nodeAffinity } } }],
    ["requiredNodes", undefined, { spec: { affinity: { podAffinity: {} } } }],
    ["claims", ["data"], { spec: { volumes: claims } }],
    ["claims", undefined, { spec: { volumes: [{ emptyDir: {} }] } }],
    ["unschedulableSinceMs", AT_TIME, scheduled("Unschedulable")],
    ["unschedulableSinceMs", undefined, scheduled("SchedulingGated")],
  ];
  const plain = parsePod(RUNNING);
  for (const [name, value, given] of rows) {
    const pod = running(given);
    const what = `${name} of ${JSON.stringify(given)}`;
    assert.deepEqual(pod[name], value, what);
    assert.equal(name in pod, value !== undefined, what);
    assert.ok(!(name in plain), name);
  }
  const metadata = { ...RUNNING.metadata, creationTimestamp: TIME };
  assert.equal(parsePod({ ...RUNNING, metadata }).createdAtMs, AT_TIME);
  assert.ok(!("createdAtMs" in plain));
});

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const OPTIONAL = [
  ...["labels", "cordoned", "cordonedAtMs", "taints", "alarms", "draining", "os"] as const,
  ...["allocatableMemory", "kubeletVersion"] as const,
];

pure("parseNode() reads what is there, and leaves out the rest", () => {
  const cordon = { key: "node.kubernetes.io/unschedulable", timeAdded: "2026-01-01T00:00:00Z" };
  const allocatable = (allocatable: object) => ({ status: { allocatable } });
  const going = (key: string) => ({ spec: { taints: [{ key: "gpu" }, { key, effect: "x" }] } });
  const labelled = (os: string) => ({
    metadata: { ...identity, labels: { "kubernetes.io/os": os } },
  });
  const conditions = Object.entries({
    ...{ Ready: "True", MemoryPressure: "True", DiskPressure: "Unknown" },
    ...{ PreemptScheduled: "True", FreezeScheduled: "False" },
  }).map(([type, status]) => ({ type, status }));
  const taints = [{ key: "gone", effect: "NoSchedule" }, { key: "k", value: "v", effect: "x" }];
  const rows: readonly (readonly [raw: object, seen: Partial<Node>, ...unseen: (keyof Node)[]])[] =
    [
      [{}, { metadata: identity, allocatableCPU: 0, ready: false, pressures: [] }, ...OPTIONAL],
      [allocatable({ cpu: "3920m" }), { allocatableCPU: 3920 }, "allocatableMemory"],
      [allocatable({ cpu: "2", memory: "1Mi" }), { allocatableMemory: 2 ** 20 }],
      [{ status: { conditions } }, {
        ready: true,
        pressures: ["MemoryPressure"],
        alarms: ["PreemptScheduled"],
      }],
      [{ status: { nodeInfo: { kubeletVersion: "v1.36.3" } } }, { kubeletVersion: "v1.36.3" }],
      [{ metadata: { ...identity, labels: { zone: "a" } } }, { labels: { zone: "a" } }],
      [{ spec: { taints } }, { taints: taints.map((one) => ({ value: "", ...one })) }, "draining"],
      // An autoscaler will remove it.
      [going("ToBeDeletedByClusterAutoscaler"), { draining: true }],
      [going("karpenter.sh/disrupted"), { draining: true }],
      [{ spec: { unschedulable: false } }, {}, "draining", "cordoned"],
      [{ spec: { unschedulable: true } }, { cordoned: true }, "draining", "cordonedAtMs"],
      [{ spec: { unschedulable: true, taints: [{ key: "gpu" }, cordon] } }, {
        cordoned: true,
        cordonedAtMs: Date.UTC(2026, 0, 1),
      }],
      // The taint is taken off a moment after the cordon.
      [{ spec: { taints: [cordon] } }, {}, "cordonedAtMs"],
      [labelled("linux"), {}, "os"],
      [labelled("windows"), { os: "windows" }],
    ];
  for (const [raw, seen, ...unseen] of rows) {
    const node = parseNode({ metadata: identity, ...raw });
    for (const [name, value] of Object.entries(seen)) {
      assert.deepEqual(node[name as keyof Node], value, `${name} of ${JSON.stringify(raw)}`);
    }
    for (const name of unseen) assert.ok(!(name in node), `${name} of ${JSON.stringify(raw)}`);
  }
});

pure("parsePersistentVolume() reads its claim and its nodes", () => {
  const spec = {
    claimRef: { namespace: "shop", name: "data" },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } },
  };
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec }), {
    metadata: identity,
    claim: "shop/data",
    nodes: [[zone]],
  });
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec: {} }), { metadata: identity });
  // Its claim is gone, and another one of that name has nothing to do with it.
  const released = { metadata: identity, spec, status: { phase: "Released" } };
  assert.equal(parsePersistentVolume(released).claim, undefined);
});
