import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { EVERY_WORKLOAD } from "../../../shared/api/workload.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import {
  parseHorizontalPodAutoscaler,
  parseVerticalPodAutoscaler,
  verticalPodAutoscalerListWatch,
} from "./autoscalers.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";

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

pure(
  "parseHorizontalPodAutoscaler() takes five minutes where the HPA says nothing, and 0 for 0",
  () => {
    const windowOf = (behavior: unknown) =>
      parseHorizontalPodAutoscaler({ ...RAW, spec: { scaleTargetRef, behavior } }).stabilizationMs;
    assert.equal(windowOf(undefined), 300_000);
    assert.equal(windowOf({ scaleUp: { stabilizationWindowSeconds: 5 } }), 300_000);
    assert.equal(windowOf({ scaleDown: { stabilizationWindowSeconds: 0 } }), 0);
  },
);

pure("parseHorizontalPodAutoscaler() knows no last scaling of one that never scaled", () => {
  assert.ok(!("lastScaleMs" in parseHorizontalPodAutoscaler({ ...RAW, status: {} })));
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
});

const targetRef = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" };
const OFF = { metadata, spec: { targetRef, updatePolicy: { updateMode: "Off" } } };

pure("parseVerticalPodAutoscaler() keeps target and mode", () => {
  assert.deepEqual(parseVerticalPodAutoscaler(OFF), {
    metadata,
    target: { kind: "StatefulSet", name: "web" },
    updateMode: "Off",
  });
});

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
