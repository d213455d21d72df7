import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { PodContainer } from "../../../shared/api/pod.ts";
import { EVERY_WORKLOAD } from "../../../shared/api/workload.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  parseHorizontalPodAutoscaler,
  parseVerticalPodAutoscaler,
  verticalPodAutoscalerListWatch,
} from "./autoscalers.ts";
import { parseContainers, type RawContainers } from "./containers.ts";

const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "7" };
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

function utilization(averageUtilization: number): unknown {
  return {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
  };
}

/** An HPA as a server of 1.36 gives it, cut to what matters. */
const RAW = {
  metadata: {
    ...metadata,
    annotations: {
      "mbcas.io/hpa-coordination": "false",
      "autoscaling.alpha.kubernetes.io/current-metrics": "[]",
    },
  },
  spec: {
    scaleTargetRef,
    minReplicas: 1,
    maxReplicas: 5,
    metrics: [utilization(80)],
    behavior: { scaleDown: { stabilizationWindowSeconds: 60, policies: [] } },
  },
  status: { lastScaleTime: "2026-01-01T00:00:00Z", currentReplicas: 2, desiredReplicas: 2 },
};

pure("parseHorizontalPodAutoscaler() keeps target, aim, last scaling and window", () => {
  assert.deepEqual(parseHorizontalPodAutoscaler(RAW), {
    metadata: { ...metadata, annotations: { "mbcas.io/hpa-coordination": "false" } },
    target: { kind: "Deployment", name: "web" },
    cpuTargets: [{ utilization: 0.8 }],
    lastScaleMs: Date.UTC(2026, 0, 1),
    stabilizationMs: 60_000,
  });
});

pure("parseHorizontalPodAutoscaler() takes five minutes where the HPA is silent, 0 for 0", () => {
  const windowOf = (behavior: unknown) =>
    parseHorizontalPodAutoscaler({ ...RAW, spec: { scaleTargetRef, behavior } }).stabilizationMs;
  assert.equal(windowOf(undefined), 300_000);
  assert.equal(windowOf({ scaleUp: { stabilizationWindowSeconds: 5 } }), 300_000);
  assert.equal(windowOf({ scaleDown: { stabilizationWindowSeconds: 0 } }), 0);
});

pure("parseHorizontalPodAutoscaler() reads targets of CPU, and shares of memory requests", () => {
  const cpu = { name: "cpu" };
  const share = { averageUtilization: 80 };
  const ofPod = (resource: object) => ({ type: "Resource", resource });
  const ofContainer = (resource: object) => ({
    type: "ContainerResource",
    containerResource: { ...resource, container: "app" },
  });
  const memory = { name: "memory", target: share };
  const read = (...metrics: readonly unknown[]) => {
    const spec = { scaleTargetRef, metrics };
    const { cpuTargets, memoryTargets } = parseHorizontalPodAutoscaler({ ...RAW, spec });
    return [cpuTargets, memoryTargets];
  };
  const rows: readonly (readonly [metric: unknown, cpu: object[], memory?: object[]])[] = [
    [utilization(55), [{ utilization: 0.55 }]],
    [ofPod({ ...cpu, target: { averageValue: "1500m" } }), [{ value: 1500 }]],
    [ofContainer({ ...cpu, target: share }), [{ container: "app", utilization: 0.8 }]],
    [ofContainer({ ...cpu, target: { averageValue: "2" } }), [{ container: "app", value: 2000 }]],
    [ofPod(memory), [], [{}]],
    [ofContainer(memory), [], [{ container: "app" }]],
    [ofPod({ name: "memory", target: { averageValue: "1Gi" } }), []],
    [{ type: "Pods", pods: { metric: cpu, target: { averageValue: "1" } } }, []],
    [{ type: "External", external: { metric: cpu, target: { value: "1" } } }, []],
    [ofPod({ ...cpu, target: { type: "Value" } }), []],
  ];
  for (const [metric, ...expected] of rows) {
    assert.deepEqual(read(metric), [expected[0], expected[1]], JSON.stringify(metric));
  }
  const both = read(utilization(55), ofPod({ ...cpu, target: { averageValue: "1" } }));
  assert.deepEqual(both, [[{ utilization: 0.55 }, { value: 1000 }], undefined]);
  const none = parseHorizontalPodAutoscaler({ metadata, spec: { scaleTargetRef } });
  assert.deepEqual(none.cpuTargets, []);
  assert.ok(!("lastScaleMs" in none));
});

const targetRef = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" };
const OFF = { metadata, spec: { targetRef, updatePolicy: { updateMode: "Off" } } };

pure("parseVerticalPodAutoscaler() knows this product's own one by both of its marks", () => {
  const labels = { "app.kubernetes.io/managed-by": "mbcas-controller" };
  const recommenders = [{ name: "optipod" }];
  const published = (marks: object, spec: object): unknown =>
    parseVerticalPodAutoscaler({
      metadata: { ...metadata, ...marks },
      spec: { ...OFF.spec, ...spec },
    }).published;
  assert.equal(published({ labels }, { recommenders }), true);
  for (const marks of [{}, { labels: { "app.kubernetes.io/managed-by": "helm" } }]) {
    assert.equal(published(marks, { recommenders }), undefined);
  }
  for (const spec of [{}, { recommenders: [{ name: "default" }] }, { recommenders: "optipod" }]) {
    assert.equal(published({ labels }, spec), undefined);
  }
});

pure("parseVerticalPodAutoscaler() takes one without a mode for one that acts", () => {
  for (const updatePolicy of [undefined, null, {}, { minReplicas: 1 }, { updateMode: "" }]) {
    const { updateMode } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, updatePolicy },
    });
    assert.notEqual(updateMode, "Off");
  }
});

pure("parseVerticalPodAutoscaler() keeps of which containers it sets the CPU", () => {
  const memory = { controlledResources: ["memory"] };
  // A boost at the start is of CPU.
  const startupBoost = { cpu: { type: "Factor", factor: 2 } };
  const rows: readonly (readonly [controlled: boolean, policy: object, more?: object])[] = [
    [true, {}],
    [true, { mode: "Auto" }],
    [false, { mode: "Off" }],
    [false, { mode: "Off", containerName: "*" }],
    [false, memory],
    [false, { controlledResources: [] }],
    [true, { controlledResources: ["memory", "cpu"] }],
    [true, { ...memory, startupBoost }],
    [true, memory, { startupBoost }],
  ];
  for (const [controlled, change, more] of rows) {
    const policy = { containerName: "app", ...change };
    const { cpuPolicies } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, resourcePolicy: { containerPolicies: [policy] }, ...more },
    });
    assert.deepEqual(cpuPolicies, [{ container: policy.containerName, controlled }]);
  }
});

pure("parseVerticalPodAutoscaler() excuses no container by what it can't read", () => {
  for (const containerPolicies of [null, [null], [{ mode: "Off" }]]) {
    const { cpuPolicies, updateMode, unreadable } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, resourcePolicy: { containerPolicies } },
    });
    assert.deepEqual([cpuPolicies, updateMode, unreadable], [undefined, "Auto", undefined]);
  }
});

pure("parseVerticalPodAutoscaler() keeps one that can't be read, as mode Off", () => {
  const policies = (containerPolicies: unknown) => ({ resourcePolicy: { containerPolicies } });
  for (
    const [odd, why] of [
      [{ updatePolicy: { updateMode: 5 } }, /updateMode is/],
      [{ updatePolicy: "Off" }, /updatePolicy is/],
      [{ resourcePolicy: "none" }, /resourcePolicy is/],
      [policies("app"), /containerPolicies is/],
      [policies([["app"]]), /policy is/],
      [policies([{ containerName: "a", controlledResources: "memory" }]), /controlledResources is/],
    ] as const
  ) {
    const { unreadable = "", ...rest } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, ...odd },
    });
    assert.match(unreadable, why);
    assert.match(unreadable, /^Cannot read /);
    assert.deepEqual(rest, {
      metadata,
      target: { kind: "StatefulSet", name: "web" },
      updateMode: "Off",
    });
  }
});

pure("parseVerticalPodAutoscaler() takes one without a target for one of every workload", () => {
  for (const odd of [{ targetRef: {} }, { targetRef: { kind: "Deployment" } }, {}]) {
    const { target, unreadable = "" } = parseVerticalPodAutoscaler({ metadata, spec: odd });
    assert.deepEqual(target, EVERY_WORKLOAD);
    assert.match(unreadable, /spec\.targetRef\.(kind|name)$/);
  }
  const off = { updatePolicy: { updateMode: "Off" } };
  // It does nothing, to whomever.
  assert.equal(parseVerticalPodAutoscaler({ metadata, spec: off }).unreadable, undefined);
});

Deno.test("verticalPodAutoscalerListWatch() is empty where the kind is not known", async () => {
  let known = false;
  await using server = serveCanned(() =>
    known
      ? { metadata: { resourceVersion: "9" }, items: [OFF, {}] }
      : Response.json({ message: "404 page not found" }, { status: 404 })
  );
  const clock = createVirtualClock({ wallStart: 0 });
  const source = verticalPodAutoscalerListWatch(server.connection, { clock });
  const { signal } = new AbortController();
  assert.deepEqual((await source.list(signal)).items, []);
  known = true;
  const { items } = await source.list(signal);
  assert.deepEqual(items.map(({ updateMode }) => updateMode), ["Off"]);
  assert.equal(server.requests[0]?.path, "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers");
});

function containerOf(spec: object, status?: object): PodContainer {
  const raw = {
    spec: { containers: [{ name: "app", ...spec }] },
    ...(status === undefined
      ? {}
      : { status: { containerStatuses: [{ name: "app", ...status }] } }),
  };
  const [container] = parseContainers(raw as unknown as RawContainers).containers;
  return container ?? assert.fail("there is a container");
}

function withStatus(status?: object): PodContainer {
  return containerOf({}, status);
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
    const container = withStatus(status);
    const what = `${name} of ${JSON.stringify(status)}`;
    assert.equal(container[name], value, what);
    assert.equal(name in container, value !== undefined, what);
  }
});

pure("parseContainers() reads the memory limit that is enforced", () => {
  const resources = { limits: { cpu: "1", memory: "64Mi" } };
  assert.deepEqual(withStatus({ resources }).applied.limits, { cpu: 1000, memory: 64 * 2 ** 20 });
  const { applied } = withStatus({ resources: { limits: { cpu: "1" } } });
  assert.deepEqual(applied.limits, { cpu: 1000 });
});

pure("parseContainers() names what is wanted beside CPU and memory, where there is any", () => {
  const of = (resources: object): PodContainer => containerOf({ resources });
  const requests = { cpu: "1", "ephemeral-storage": "1Gi" };
  const limits = { memory: "1Gi", "example.com/gpu": "1" };
  assert.deepEqual(of({ requests, limits }).otherResources, [
    "requests.ephemeral-storage",
    "limits.example.com/gpu",
  ]);
  assert.ok(!("otherResources" in of({ requests: { cpu: "1" }, limits: { memory: "1Gi" } })));
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
