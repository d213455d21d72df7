import assert from "node:assert/strict";
import { NO_RESOURCES, type PodContainer } from "../../../shared/api/pod.ts";
import { isRollingOut, type WorkloadKind } from "../../../shared/api/workload.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { parseContainers, type RawContainers } from "./containers.ts";
import { parseReplicaSet, parseWorkload, templateOf, workloadListWatch } from "./workloads.ts";

const identity = { name: "web", namespace: "shop", uid: "u", resourceVersion: "7" };

interface Raw {
  readonly generation?: number;
  readonly spec?: object;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A template with a quantity that the server accepts, and that is too large to be counted. */
const HUGE = {
  spec: { containers: [{ name: "app", resources: { requests: { cpu: "9007199254740992" } } }] },
};

function raw({ generation = 2, spec = { replicas: 3 }, status = {} }: Raw): unknown {
  return {
    metadata: { ...identity, generation },
    spec: { template: { spec: { containers: [] } }, ...spec },
    status: { observedGeneration: generation, ...status },
  };
}

const RS = { replicas: 4, updatedReplicas: 2, availableReplicas: 3 };
const UPDATED = { replicas: 5, updatedReplicas: 5 };
const HALFWAY = { replicas: 4, updatedReplicas: 1 };
const REVISIONS = { currentRevision: "web-1", updateRevision: "web-2" };
const PARTLY = { replicas: 3, updatedReplicas: 1, ...REVISIONS };
const UNTOUCHED = { ...PARTLY, updatedReplicas: 0 };
const ON_DELETE = { updateStrategy: { type: "OnDelete" } };

const progressing = (reason: string) => ({
  status: { ...HALFWAY, conditions: [{ type: "Progressing", status: "False", reason }] },
});
const partition = (partition: number) => ({
  replicas: 3,
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
});
const nodes = (desired: number, current: number, updated?: number) => ({
  status: {
    desiredNumberScheduled: desired,
    currentNumberScheduled: current,
    ...(updated === undefined ? {} : { updatedNumberScheduled: updated }),
  },
});

pure("parseWorkload() reads whether a rollout is under way", () => {
  const rows: readonly (readonly [rolls: boolean, kind: WorkloadKind, given: Raw])[] = [
    [true, "Deployment", { status: RS }],
    [true, "Deployment", { status: { replicas: 4, updatedReplicas: 3 } }],
    [false, "Deployment", { status: { replicas: 3, updatedReplicas: 3 } }],
    // Scaled, whether its controller has seen the new number or not.
    [false, "Deployment", { spec: { replicas: 0 }, status: UPDATED }],
    [false, "Deployment", { spec: { replicas: 2 }, status: UPDATED }],
    [false, "Deployment", { spec: { replicas: 9 }, status: UPDATED }],
    [false, "Deployment", { status: {} }],
    [false, "Deployment", { spec: { replicas: 9 }, status: { ...UPDATED, observedGeneration: 1 } }],
    // Paused, or given up.
    [false, "Deployment", { spec: { replicas: 3, paused: true }, status: HALFWAY }],
    [false, "Deployment", progressing("ProgressDeadlineExceeded")],
    [true, "Deployment", progressing("ReplicaSetUpdated")],
    [true, "Deployment", {
      status: {
        ...HALFWAY,
        conditions: [{ type: "Available", reason: "ProgressDeadlineExceeded" }],
      },
    }],
    // Until the newest revision is the current one: then pods no longer count as updated.
    [true, "StatefulSet", { status: { ...PARTLY, currentReplicas: 2 } }],
    [false, "StatefulSet", {
      status: { replicas: 3, currentReplicas: 3, ...REVISIONS, currentRevision: "web-2" },
    }],
    [false, "StatefulSet", {
      spec: { replicas: 5 },
      status: { replicas: 2, currentReplicas: 2, ...REVISIONS, currentRevision: "web-2" },
    }],
    [false, "StatefulSet", { spec: partition(2), status: PARTLY }],
    [true, "StatefulSet", { spec: partition(1), status: PARTLY }],
    [true, "StatefulSet", { spec: partition(2), status: UNTOUCHED }],
    [false, "StatefulSet", { spec: partition(3), status: UNTOUCHED }],
    [false, "StatefulSet", { spec: partition(9), status: UNTOUCHED }],
    [false, "StatefulSet", { spec: { replicas: 3, ...ON_DELETE }, status: PARTLY }],
    [false, "DaemonSet", { spec: ON_DELETE, ...nodes(3, 3, 1) }],
    [true, "DaemonSet", nodes(3, 3, 1)],
    [false, "DaemonSet", nodes(5, 4, 4)],
    [false, "DaemonSet", nodes(3, 3, 3)],
    [true, "DaemonSet", nodes(3, 3, 2)],
    [true, "DaemonSet", nodes(3, 3)],
    // A node that should not have one any more is no rollout.
    [false, "DaemonSet", nodes(2, 3, 2)],
    [false, "DaemonSet", nodes(0, 0)],
  ];
  for (const [rolls, kind, given] of rows) {
    const { rollout } = parseWorkload(raw(given), kind);
    assert.equal(isRollingOut(rollout), rolls, `${kind} ${JSON.stringify(given)}`);
  }
  const { rollout } = parseWorkload(raw({ status: RS }), "Deployment");
  assert.deepEqual(rollout, { updated: 2, total: 4, halted: false });
});

pure("parseWorkload() keeps the identity, all labels and this product's annotations alone", () => {
  const annotations = {
    "mbcas.io/hpa-coordination": "false",
    "optipod.io/policy": "shop/web",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    "not-mbcas.io/x": "1",
    "optipod.io.example/x": "1",
  };
  const labels = { app: "web", "mbcas.io/managed": "false" };
  const object = { metadata: { ...identity, labels, annotations }, spec: { template } };
  const { kind, metadata } = parseWorkload(object, "DaemonSet");
  assert.equal(kind, "DaemonSet");
  assert.deepEqual(metadata, {
    ...identity,
    labels,
    annotations: { "mbcas.io/hpa-coordination": "false", "optipod.io/policy": "shop/web" },
  });
});

const containers = [{
  name: "app",
  resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
  resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }],
}];
const template = { metadata: { labels: { app: "web" } }, spec: { containers } };
const app = {
  name: "app",
  sidecar: false,
  ready: false,
  requests: { cpu: 100, memory: 64 * 2 ** 20 },
  limits: { memory: 128 * 2 ** 20 },
  applied: NO_RESOURCES,
  restartsOnCPU: false,
  restartsOnMemory: true,
};

pure("parseWorkload() reads what new pods are made of", () => {
  const made = (kind: WorkloadKind, given: Raw) => parseWorkload(raw(given), kind).spec;
  const plain = { template: { containers: [app], initContainers: [] } };
  const paused = { template, replicas: 3, paused: true };
  assert.deepEqual(made("Deployment", { spec: paused }), { ...plain, paused: true, replicas: 3 });
  const set = made("StatefulSet", { spec: { template } });
  assert.deepEqual(set, { ...plain, paused: false, replicas: 1 });
  const status = { desiredNumberScheduled: 5, currentNumberScheduled: 4 };
  assert.equal(made("DaemonSet", { spec: { template }, status })?.replicas, 5);
  assert.equal(made("DaemonSet", { spec: { template } })?.replicas, 0);
});

pure("parseWorkload() reads the owners of its template's values", () => {
  const fields = { "f:requests": { "f:cpu": {} }, "f:limits": { "f:cpu": {} } };
  const set = { 'k:{"name":"app"}': { "f:resources": fields }, 'k:{"name":"gone"}': fields };
  const entry = {
    manager: "optipod",
    operation: "Apply",
    time: "2026-01-01T00:00:00Z",
    fieldsV1: { "f:spec": { "f:template": { "f:spec": { "f:containers": set } } } },
  };
  const read = (...managedFields: readonly unknown[]) =>
    parseWorkload({ metadata: { ...identity, managedFields }, spec: { template } }, "Deployment")
      .spec?.owners;
  const owner = { manager: "optipod", atMs: Date.UTC(2026, 0, 1) };
  assert.deepEqual(read(entry)?.["app"], { "requests.cpu": owner, "limits.cpu": owner });
  assert.equal(read(), undefined);
});

pure("parseWorkload() reads sidecars, init containers, and what quotas ask of a template", () => {
  const initContainers = [
    { name: "proxy", restartPolicy: "Always", resources: { limits: { cpu: "50m" } } },
    { name: "setup", resources: { requests: { cpu: "1" } } },
  ];
  const given = {
    ...{ containers, initContainers, resources: { limits: { cpu: "2" } } },
    ...{ priorityClassName: "high", activeDeadlineSeconds: 60 },
  };
  const spec = { template: { spec: given } };
  const bare = { ready: false, restartsOnCPU: false, applied: NO_RESOURCES };
  assert.deepEqual(parseWorkload(raw({ spec }), "Deployment").spec?.template, {
    containers: [app, { ...bare, name: "proxy", sidecar: true, requests: {}, limits: { cpu: 50 } }],
    initContainers: [{
      ...{ ...bare, name: "setup", sidecar: false, sidecarsBefore: 1 },
      ...{ requests: { cpu: 1000 }, limits: {} },
    }],
    podLevel: { requests: {}, limits: { cpu: 2000 } },
    priorityClassName: "high",
    hasDeadline: true,
  });
});

pure("parseWorkload() reads the rollout beside a template that it can't read", () => {
  const status = { replicas: 4, updatedReplicas: 2 };
  const workload = parseWorkload(raw({ spec: { template: HUGE }, status }), "Deployment");
  assert.match(workload.unreadableTemplate ?? "", /CPU quantity/);
  assert.ok(!("spec" in workload));
  assert.deepEqual(workload.rollout, { updated: 2, total: 4, halted: false });
  const { unreadable = "", containers, replicas } = templateOf(workload);
  assert.match(unreadable, /^Cannot parse CPU quantity: "9007199254740992"/);
  assert.deepEqual([containers, replicas], [[], 0]);
});

Deno.test("workloadListWatch() lists each kind by its own path", async () => {
  const list = { metadata: { resourceVersion: "9" }, items: [raw({})] };
  await using server = serveCanned(() => list);
  const signal = new AbortController().signal;
  for (const kind of ["Deployment", "StatefulSet", "DaemonSet"] as const) {
    const { items } = await workloadListWatch(server.connection, { kind }).list(signal);
    assert.deepEqual(items.map((one) => [one.kind, one.metadata.name]), [[kind, "web"]]);
  }
  assert.deepEqual(
    server.requests.map(({ path }) => path),
    ["/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets"],
  );
});

pure("templateOf() has containers and sidecars, with limits in place of absent requests", () => {
  const spec = {
    template: {
      spec: {
        containers: [{
          name: "app",
          resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { cpu: "1" } },
        }, { name: "bare" }],
        initContainers: [
          { name: "setup", resources: { requests: { cpu: "1" } } },
          { name: "proxy", restartPolicy: "Always", resources: { limits: { memory: "1Gi" } } },
        ],
      },
    },
  };
  const requests = { cpu: 250, memory: 64 * 2 ** 20 };
  const memory = { memory: 2 ** 30 };
  const { metadata, ...read } = templateOf(parseWorkload(raw({ spec }), "Deployment"));
  assert.deepEqual({ ...metadata, annotations: undefined }, {
    ...identity,
    annotations: undefined,
  });
  assert.deepEqual(read, {
    kind: "Deployment",
    replicas: 1,
    containers: [
      { name: "app", sidecar: false, requests, limits: { cpu: 1000 } },
      { name: "bare", sidecar: false, ...NO_RESOURCES },
      // As the server writes it into the pods.
      { name: "proxy", sidecar: true, requests: memory, limits: memory },
    ],
  });
});

pure("parseReplicaSet() reads the Deployment that controls it, and no other owner", () => {
  const owned = (owner: object): unknown => ({
    metadata: { ...identity, ownerReferences: [owner] },
  });
  const deployment = { name: "web", uid: "d" };
  const owner = { ...deployment, apiVersion: "apps/v1", kind: "Deployment", controller: true };
  assert.deepEqual(parseReplicaSet(owned(owner)), { metadata: identity, deployment });
  const others = [
    { ...owner, controller: false },
    { ...owner, apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" },
    { ...owner, apiVersion: "example.com/v1" },
  ];
  for (const other of others) {
    assert.deepEqual(parseReplicaSet(owned(other)), { metadata: identity });
  }
});

pure("parseWorkload() reads how many pods there are, and placement's annotations", () => {
  const object = {
    metadata: {
      ...identity,
      generation: 4,
      annotations: { "spotalis.io/spot-percentage": "70", other: "x" },
    },
    spec: { replicas: 5, ordinals: { start: 2 }, template: { spec: { containers: [] } } },
    status: { observedGeneration: 4, replicas: 5, readyReplicas: 4, updatedReplicas: 3 },
  };
  const { replicas, metadata } = parseWorkload(object, "StatefulSet");
  assert.deepEqual(replicas, {
    ...{ replicas: 5, observed: true, present: 5, ready: 4, updated: 3, firstOrdinal: 2 },
  });
  assert.deepEqual(metadata.annotations, { "spotalis.io/spot-percentage": "70" });
  const late = { ...object, status: { ...object.status, observedGeneration: 3 } };
  assert.equal(parseWorkload(late, "Deployment").replicas?.observed, false);
  const revisions = { currentRevision: "r", updateRevision: "r" };
  const over = { ...object, status: { ...object.status, ...revisions } };
  assert.equal(parseWorkload(over, "StatefulSet").replicas?.updated, 5);
  assert.ok(!("replicas" in parseWorkload(object, "DaemonSet")));
});

function containerOf(spec: object, status?: object): PodContainer {
  const containerStatuses = status === undefined ? [] : [{ name: "app", ...status }];
  const raw = { spec: { containers: [{ name: "app", ...spec }] }, status: { containerStatuses } };
  const [container] = parseContainers(raw as unknown as RawContainers).containers;
  return container ?? assert.fail("there is a container");
}

const STARTED = "2026-01-01T00:00:10Z";
const ENDED = "2026-01-01T00:00:05Z";
const running = { running: { startedAt: STARTED } };
const ended = { terminated: { finishedAt: ENDED } };

const [EARLY, LATE] = [Date.UTC(2026, 0, 1, 0, 0, 5), Date.UTC(2026, 0, 1, 0, 0, 10)];
const waiting = (reason?: string) => ({ waiting: { reason } });
const failed = (exitCode: number, restartCount: number) => ({
  restartCount,
  state: { terminated: { exitCode, finishedAt: STARTED } },
  lastState: { terminated: { exitCode, finishedAt: ENDED } },
});
const end = (reason: string, finishedAt: unknown) => ({
  terminated: { reason, exitCode: 137, finishedAt },
});
const killed = end("OOMKilled", ENDED);

pure("parseContainers() reads starts, restarts and ends of a container", () => {
  type Name = "startedAtMs" | "restartedAtMs" | "oomKilledAtMs" | "crashLooping";
  const rows: readonly (readonly [name: Name, value: unknown, status: object | undefined])[] = [
    ["startedAtMs", LATE, { state: running }],
    ...[undefined, ended, waiting(), { running: {} }].map((state) =>
      ["startedAtMs", undefined, { state }] as const
    ),
    ["restartedAtMs", LATE, { restartCount: 1, state: running, lastState: ended }],
    // The end of the last run while it waits to be started again.
    ["restartedAtMs", EARLY, {
      restartCount: 3,
      state: waiting("CrashLoopBackOff"),
      lastState: ended,
    }],
    ["restartedAtMs", LATE, failed(1, 2)],
    // A first start, and times that the kubelet does not give.
    ...[{ restartCount: 0, state: running }, { state: running }, undefined, {}].map((status) =>
      ["restartedAtMs", undefined, status] as const
    ),
    ...[{}, { running: {} }, { running: { startedAt: null } }, { terminated: {} }].map((state) =>
      ["restartedAtMs", undefined, { restartCount: 2, state }] as const
    ),
    ["crashLooping", true, {
      restartCount: 3,
      state: waiting("CrashLoopBackOff"),
      lastState: ended,
    }],
    ["crashLooping", true, failed(1, 2)],
    ...[failed(1, 1), failed(1, 0), failed(0, 5)].map((status) =>
      ["crashLooping", undefined, status] as const
    ),
    ...["ContainerCreating", "ImagePullBackOff", undefined].map((reason) =>
      ["crashLooping", undefined, { state: waiting(reason) }] as const
    ),
    // The present state takes precedence over the one before.
    ["oomKilledAtMs", EARLY, { state: running, lastState: killed }],
    ["oomKilledAtMs", LATE, { state: end("OOMKilled", STARTED), lastState: killed }],
    ["oomKilledAtMs", EARLY, { state: end("Error", STARTED), lastState: killed }],
    ["oomKilledAtMs", undefined, { state: running }],
    ["oomKilledAtMs", undefined, {
      state: end("Error", STARTED),
      lastState: end("Completed", ENDED),
    }],
  ];
  for (const [name, value, status] of rows) {
    const container = containerOf({}, status);
    const what = `${name} of ${JSON.stringify(status)}`;
    assert.equal(container[name], value, what);
    assert.equal(name in container, value !== undefined, what);
  }
});

pure("parseContainers() reads enforced limits, and other resources by name", () => {
  for (
    const [limits, read] of [
      [{ cpu: "1", memory: "64Mi" }, { cpu: 1000, memory: 64 * 2 ** 20 }],
      [{ cpu: "1" }, { cpu: 1000 }],
    ]
  ) assert.deepEqual(containerOf({}, { resources: { limits } }).applied.limits, read);
  const requests = { cpu: "1", "ephemeral-storage": "1Gi" };
  const limits = { memory: "1Gi", "example.com/gpu": "1" };
  assert.deepEqual(containerOf({ resources: { requests, limits } }).otherResources, [
    "requests.ephemeral-storage",
    "limits.example.com/gpu",
  ]);
  const usual = { requests: { cpu: "1" }, limits: { memory: "1Gi" } };
  assert.ok(!("otherResources" in containerOf({ resources: usual })));
});

pure("parseContainers() reads of each resource whether its change restarts the container", () => {
  const restarting = (...resources: string[]): PodContainer =>
    containerOf({
      resizePolicy: ["cpu", "memory"].map((resourceName) => ({
        resourceName,
        restartPolicy: resources.includes(resourceName) ? "RestartContainer" : "NotRequired",
      })),
    });
  const { restartsOnCPU, restartsOnMemory } = restarting("memory");
  assert.deepEqual([restartsOnCPU, restartsOnMemory], [false, true]);
  assert.equal(restarting("cpu").restartsOnCPU, true);
  assert.ok(!("restartsOnMemory" in restarting("cpu")));
});
