import assert from "node:assert/strict";
import { EVERY_WORKLOAD } from "../../shared/api/workload.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import {
  horizontalPodAutoscalerListWatch,
  parseHorizontalPodAutoscaler,
} from "./horizontal_pod_autoscalers.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

function targets(...metrics: unknown[]) {
  return parseHorizontalPodAutoscaler({ ...RAW, spec: { scaleTargetRef, metrics } }).cpuTargets;
}

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

pure(
  "parseHorizontalPodAutoscaler() reads targets of pods and of one container, as shares and values",
  () => {
    const value = {
      type: "Resource",
      resource: { name: "cpu", target: { averageValue: "1500m" } },
    };
    const one = (target: unknown) => ({
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "app", target },
    });
    assert.deepEqual(targets(utilization(55), value), [{ utilization: 0.55 }, { value: 1500 }]);
    assert.deepEqual(targets(one({ averageUtilization: 60 }), one({ averageValue: "2" })), [
      { container: "app", utilization: 0.6 },
      { container: "app", value: 2000 },
    ]);
  },
);

pure("parseHorizontalPodAutoscaler() passes over what is not CPU", () => {
  assert.deepEqual(
    targets(
      { type: "Resource", resource: { name: "memory", target: { averageUtilization: 80 } } },
      { type: "Pods", pods: { metric: { name: "cpu" }, target: { averageValue: "1" } } },
      { type: "External", external: { metric: { name: "cpu" }, target: { value: "1" } } },
      { type: "Resource", resource: { name: "cpu", target: {} } },
      {},
      null,
    ),
    [],
  );
  assert.deepEqual(
    parseHorizontalPodAutoscaler({ metadata, spec: { scaleTargetRef } }).cpuTargets,
    [],
  );
});

pure("parseHorizontalPodAutoscaler() keeps one whose CPU can't be read, with its target", () => {
  const read = (target: unknown) => {
    const metrics = [utilization(50), { resource: { name: "cpu", target } }];
    return parseHorizontalPodAutoscaler({ ...RAW, spec: { scaleTargetRef, metrics } });
  };
  for (
    const [target, why] of [
      [{ averageValue: "much" }, /^Cannot parse CPU quantity: "much"/],
      [{ averageValue: {} }, /quantity averageValue/],
      [{ averageUtilization: "80" }, /averageUtilization is .*80/],
      [{ averageUtilization: 0 }, /averageUtilization is/],
      ["80%", /target is/],
    ] as const
  ) {
    const { unreadable = "", cpuTargets, target: whose } = read(target);
    assert.match(unreadable, why);
    assert.deepEqual([cpuTargets, whose], [[], { kind: "Deployment", name: "web" }]);
  }
  assert.equal(read({ averageUtilization: 60 }).unreadable, undefined);
  const listless = parseHorizontalPodAutoscaler({ metadata, spec: { scaleTargetRef, metrics: 5 } });
  assert.match(listless.unreadable ?? "", /metrics is/);
});

pure("parseHorizontalPodAutoscaler() takes one without a target for one of every workload", () => {
  const read = (metrics: unknown) => parseHorizontalPodAutoscaler({ metadata, spec: { metrics } });
  const { target, cpuTargets, unreadable } = read([utilization(80)]);
  assert.deepEqual([target, cpuTargets], [EVERY_WORKLOAD, []]);
  assert.match(unreadable ?? "", /spec\.scaleTargetRef\.kind$/);
});

pure("parseHorizontalPodAutoscaler() does not mind what is odd beside CPU", () => {
  const memory = { resource: { name: "memory", target: { averageValue: "much" } } };
  const spec = { metrics: [memory] };
  for (const odd of [{ metadata, spec }, { metadata, spec: { ...spec, scaleTargetRef } }]) {
    assert.equal(parseHorizontalPodAutoscaler(odd).unreadable, undefined);
  }
  assert.throws(() => parseHorizontalPodAutoscaler({}), { message: /metadata\.name/ });
});

Deno.test("horizontalPodAutoscalerListWatch() leaves out what has no identity alone", async () => {
  const odd = { ...metadata, name: "odd" };
  await using server = serveCanned(() => ({
    metadata: { resourceVersion: "9" },
    items: [RAW, { metadata: odd, spec: { metrics: [utilization(80)] } }, { spec: {} }],
  }));
  const listed = await horizontalPodAutoscalerListWatch(server.connection)
    .list(new AbortController().signal);
  assert.deepEqual(listed.items.map(({ metadata }) => metadata.name), ["web", "odd"]);
  assert.equal(server.requests[0]?.path, "/apis/autoscaling/v2/horizontalpodautoscalers");
});

pure(
  "parseHorizontalPodAutoscaler() keeps shares of memory requests apart, and is readable whatever stands there",
  () => {
    const resource = { name: "memory", target: { type: "Utilization", averageUtilization: 80 } };
    const readable = (metrics: readonly unknown[]): unknown => {
      const { memoryTargets, unreadable, cpuTargets } = parseHorizontalPodAutoscaler({
        ...RAW,
        spec: { scaleTargetRef, metrics },
      });
      assert.deepEqual([unreadable, cpuTargets], [undefined, []]);
      return memoryTargets;
    };
    assert.deepEqual(readable([{ type: "Resource", resource }]), [{}]);
    assert.deepEqual(
      readable([{
        type: "ContainerResource",
        containerResource: { ...resource, container: "app" },
      }]),
      [{ container: "app" }],
    );
    const odd = { ...resource, target: { averageUtilization: "many" } };
    assert.deepEqual(readable([{ resource: odd }]), [{}]);
    const value = { name: "memory", target: { averageValue: "1Gi" } };
    assert.equal(readable([{ resource: value }, 5, { resource: 5 }]), undefined);
  },
);
