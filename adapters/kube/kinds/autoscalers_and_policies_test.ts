import fc from "fast-check";
import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { EVERY_WORKLOAD } from "../../../shared/api/workload.ts";
import { type Log, type LogFields, silentLog } from "../../../shared/log.ts";
import type { PolicyDefaults } from "../../../shared/rightsizing/policy_spec.ts";
import { recordsOf, reportParts } from "../../../shared/rightsizing/reports.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { RAW_OBJECTS } from "../../../tests/fixtures/raw_objects.ts";
import {
  parseHorizontalPodAutoscaler,
  parseVerticalPodAutoscaler,
  verticalPodAutoscalerListWatch,
} from "./autoscalers.ts";
import {
  optimizationPolicyListWatch,
  parseOptimizationPolicy,
  parseRecommendationReport,
} from "./optimization_policies.ts";
import { createPodMetrics } from "./pod_metrics.ts";

const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "7" };
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

function utilization(averageUtilization: number): unknown {
  return {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
  };
}

const RAW = RAW_OBJECTS.HorizontalPodAutoscaler;

pure("parseHorizontalPodAutoscaler() keeps target, aim, last scaling and window", () => {
  assert.deepEqual(parseHorizontalPodAutoscaler(RAW), {
    metadata: {
      ...{ name: "web", namespace: "shop", uid: "uid-web", resourceVersion: "42" },
      annotations: { "mbcas.io/max-cpu": "2", "mbcas.io/hpa-coordination": "false" },
    },
    target: { kind: "Deployment", name: "web" },
    cpuTargets: [{ utilization: 0.8 }, { container: "app", value: 150 }],
    ...{ lastScaleMs: Date.UTC(2026, 0, 1), stabilizationMs: 60_000 },
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
const vpa = (spec: object, marks: object = {}) =>
  parseVerticalPodAutoscaler({
    metadata: { ...metadata, ...marks },
    spec: { targetRef, ...spec },
  });

pure("parseVerticalPodAutoscaler() knows this product's own one by both of its marks", () => {
  const labels = { "app.kubernetes.io/managed-by": "mbcas-controller" };
  const recommenders = [{ name: "optipod" }];
  const { updatePolicy } = OFF.spec;
  assert.equal(vpa({ updatePolicy, recommenders }, { labels }).published, true);
  for (const marks of [{}, { labels: { "app.kubernetes.io/managed-by": "helm" } }]) {
    assert.equal(vpa({ updatePolicy, recommenders }, marks).published, undefined);
  }
  for (const spec of [{}, { recommenders: [{ name: "default" }] }, { recommenders: "optipod" }]) {
    assert.equal(vpa({ updatePolicy, ...spec }, { labels }).published, undefined);
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
    const { cpuPolicies } = vpa({ resourcePolicy: { containerPolicies: [policy] }, ...more });
    assert.deepEqual(cpuPolicies, [{ container: policy.containerName, controlled }]);
  }
});

pure("parseVerticalPodAutoscaler() takes one for acting where it can't read more", () => {
  for (const updatePolicy of [undefined, null, {}, { minReplicas: 1 }, { updateMode: "" }]) {
    assert.notEqual(vpa({ updatePolicy }).updateMode, "Off");
  }
  for (const containerPolicies of [null, [null], [{ mode: "Off" }]]) {
    const read = vpa({ resourcePolicy: { containerPolicies } });
    const { cpuPolicies, updateMode, unreadable } = read;
    assert.deepEqual([cpuPolicies, updateMode, unreadable], [undefined, "Auto", undefined]);
  }
});

pure("parseVerticalPodAutoscaler() keeps one that can't be read, as mode Off", () => {
  const policies = (containerPolicies: unknown) => ({ resourcePolicy: { containerPolicies } });
  const rows = [
    [{ updatePolicy: { updateMode: 5 } }, /updateMode is/],
    [{ updatePolicy: "Off" }, /updatePolicy is/],
    [{ resourcePolicy: "none" }, /resourcePolicy is/],
    [policies("app"), /containerPolicies is/],
    [policies([["app"]]), /policy is/],
    [policies([{ containerName: "a", controlledResources: "memory" }]), /controlledResources is/],
  ] as const;
  for (const [odd, why] of rows) {
    const { unreadable = "", ...rest } = vpa(odd);
    assert.match(unreadable, why);
    assert.match(unreadable, /^Cannot read /);
    const target = { kind: "StatefulSet", name: "web" };
    assert.deepEqual(rest, { metadata, target, updateMode: "Off" });
  }
});

pure("parseVerticalPodAutoscaler() takes one without a target for one of every workload", () => {
  for (const odd of [{ targetRef: {} }, { targetRef: { kind: "Deployment" } }, {}]) {
    const { target, unreadable = "" } = parseVerticalPodAutoscaler({ metadata, spec: odd });
    assert.deepEqual(target, EVERY_WORKLOAD);
    assert.match(unreadable, /spec\.targetRef\.(kind|name)$/);
  }
  const off = { updatePolicy: { updateMode: "Off" } };
  // In mode Off it changes no pod, whichever workload it is for.
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
  assert.deepEqual((await source.list(signal)).items, []);
  known = true;
  const { items } = await source.list(signal);
  assert.deepEqual(items.map(({ updateMode }) => updateMode), ["Off"]);
  assert.equal(server.requests[0]?.path, "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers");
});

/** An object as the first version stored it. */
const stored = (name: "policy" | "report") =>
  JSON.parse(Deno.readTextFileSync(`tests/fixtures/optipod/stored/${name}.json`));

const [GOLDEN, REPORT] = [stored("policy"), stored("report")];
const MALFORMED = {
  ...GOLDEN,
  metadata: { ...GOLDEN.metadata, name: "typo", uid: "u2" },
  spec: { ...GOLDEN.spec, mode: "Sometimes" },
};
const { signal } = new AbortController();

Deno.test("optimizationPolicyListWatch() gives policies that name no provider that of the settings", async () => {
  const { provider: _named, ...metricsConfig } = GOLDEN.spec.metricsConfig;
  const open = { ...GOLDEN, spec: { ...GOLDEN.spec, metricsConfig } };
  await using server = serveCanned(() => ({ metadata: { resourceVersion: "9" }, items: [open] }));
  const { connection } = server;
  const of = async (selection: PolicyDefaults): Promise<string | undefined> => {
    const { items } = await optimizationPolicyListWatch(connection, selection).list(signal);
    return items[0]?.spec?.provider ?? items[0]?.unreadable;
  };
  assert.equal(await of({ provider: "metrics-server" }), "metrics-server");
  assert.match(await of({}) ?? "", /spec\.metricsConfig\.provider .*rightsizing\.provider/);
});

Deno.test("parseOptimizationPolicy() reads a policy that the first version stored", () => {
  const { spec, status, faults, unreadable, metadata } = parseOptimizationPolicy(GOLDEN);
  assert.deepEqual([faults, unreadable, status], [[], undefined, GOLDEN.status]);
  const { name, namespace, uid, resourceVersion, generation } = GOLDEN.metadata;
  assert.deepEqual(metadata, { name, namespace, uid, resourceVersion, generation });
  assert.deepEqual(spec, {
    mode: "Auto",
    weight: 500,
    selector: {
      namespaceSelector: { matchLabels: { environment: "production" }, matchExpressions: [] },
      namespaces: { allow: [], deny: ["kube-system"] },
      workloadKinds: ["Deployment", "StatefulSet"],
    },
    ...{ provider: "prometheus", windowMs: 7 * 86_400_000 },
    ...{ percentile: "P95", safetyFactor: 1.2, minSamples: 100 },
    bounds: { cpu: { min: 100, max: 4000 }, memory: { min: 128 * 2 ** 20, max: 8 * 2 ** 30 } },
    updateStrategy: {
      ...{ allowInPlaceResize: true, allowRecreate: false, updateRequestsOnly: true },
      limitMultipliers: { cpu: 1, memory: 1.1 },
      ...{ changeThresholdPercent: 15, cooldownMs: 5_400_000 },
      ...{ useServerSideApply: true, allowWithHPA: false, publishVPA: true },
    },
    intervalMs: 600_000,
  });
});

Deno.test("optimizationPolicyListWatch() lists a policy that can't be read, and says why", async () => {
  const list = { metadata: { resourceVersion: "9" }, items: [GOLDEN, MALFORMED] };
  await using server = serveCanned(() => list);
  const warned: (LogFields | undefined)[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => void warned.push(fields) };
  const { items } = await optimizationPolicyListWatch(server.connection, { log }).list(signal);
  assert.deepEqual(items.map(({ metadata, spec }) => [metadata.name, spec === undefined]), [
    ["production", false],
    ["typo", true],
  ]);
  const [fault, ...others] = items[1]?.faults ?? [];
  assert.deepEqual([fault?.field, fault?.value, others], ["spec.mode", '"Sometimes"', []]);
  assert.deepEqual(items[1]?.status, items[0]?.status);
  assert.deepEqual(warned.map((fields) => fields?.["name"]), ["typo"]);
  assert.match(String(warned[0]?.["error"]), /OptimizationPolicy: spec\.mode is "Sometimes": /);
  assert.equal(server.requests[0]?.path, "/apis/optipod.io/v1alpha1/optimizationpolicies");
});

Deno.test("parseRecommendationReport() reads a report that the first version stored, unchanged", () => {
  const report = parseRecommendationReport(REPORT);
  assert.deepEqual(report, REPORT);
  const records = recordsOf([report], "shop");
  const amounts = { cpu: 200, memory: 88_617_123, cpuLimit: 800, memoryLimit: 97_478_835 };
  assert.deepEqual(records.map(({ workload, inForce }) => [workload.name, inForce]), [
    ["db", [{ container: "db", memory: 2 ** 30 }]],
    ["queue", [{ container: "queue", ...amounts }]],
  ]);
  assert.deepEqual(reportParts(records), [
    { name: "recommendations-1", workloads: REPORT.workloads },
  ]);
});

/** As metrics-server 0.7 writes it. */
function item(over: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    metadata: {
      name: "web-0",
      namespace: "shop",
      creationTimestamp: "2026-01-01T00:00:20Z",
      labels: { app: "web" },
    },
    timestamp: "2026-01-01T00:00:00Z",
    window: "15.123s",
    containers: [
      { name: "app", usage: { cpu: "123456789n", memory: "12345Ki" } },
      { name: "proxy", usage: { cpu: "1500u", memory: "1M" } },
      { name: "idle", usage: { cpu: "0", memory: "0" } },
    ],
    ...over,
  };
}

function podMetrics(...items: readonly unknown[]): unknown {
  return { kind: "PodMetricsList", apiVersion: "metrics.k8s.io/v1beta1", metadata: {}, items };
}

async function readMetrics(answer: unknown) {
  await using server = serveCanned(() => answer);
  const answered = await createPodMetrics(server.connection).read(signal);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown) {
  const { answered } = await readMetrics(answer);
  assert.ok("problem" in answered, JSON.stringify(answered));
  assert.notEqual(answered.message, "");
  return answered.problem;
}

Deno.test("createPodMetrics() reads all namespaces with one request, in millicores and bytes", async () => {
  const { answered, requests } = await readMetrics(podMetrics(item()));
  assert.deepEqual(answered, {
    pods: [{
      namespace: "shop",
      pod: "web-0",
      timeMs: Date.UTC(2026, 0, 1),
      containers: [
        { name: "app", cpu: 123.456789, memory: 12_641_280 },
        { name: "proxy", cpu: 1.5, memory: 1_000_000 },
        { name: "idle", cpu: 0, memory: 0 },
      ],
    }],
    unreadable: 0,
  });
  assert.deepEqual(requests.map(({ method, path }) => `${method} ${path}`), [
    "GET /apis/metrics.k8s.io/v1beta1/pods",
  ]);
});

Deno.test("createPodMetrics() leaves out a pod that it can't read as a whole, and counts it", async () => {
  const spoilt = [
    item({ timestamp: "soon" }),
    item({ metadata: { name: "web-0" } }),
    item({ containers: [{ name: "app", usage: { cpu: "-1", memory: "1" } }] }),
    item({ containers: [{ name: "app", usage: { cpu: "1" } }] }),
    item({ containers: [{ usage: { cpu: "1", memory: "1" } }] }),
    null,
  ];
  const { answered } = await readMetrics(podMetrics(item(), ...spoilt));
  assert.ok("pods" in answered);
  assert.deepEqual([answered.pods.length, answered.unreadable], [1, spoilt.length]);
});

Deno.test("createPodMetrics() reports why there are none", async () => {
  const rows = [
    [404, "unavailable"],
    [503, "unavailable"],
    [403, "refused"],
    [429, "unreachable"],
    [500, "unreachable"],
  ] as const;
  for (const [status, problem] of rows) {
    assert.equal(await problemOf(statusAnswer(status, { message: "no" })), problem);
  }
  assert.equal(await problemOf(new Response("<html>")), "unreadable");
  assert.equal(await problemOf({ kind: "PodList", items: [] }), "unreadable");
  const gone = serveCanned(() => "");
  await gone[Symbol.asyncDispose]();
  const answered = await createPodMetrics(gone.connection).read(signal);
  assert.ok("problem" in answered && answered.problem === "unreachable");
});

Deno.test("createPodMetrics() gives readings that can be counted, or a problem, for any answer", async () => {
  let answer: unknown;
  await using server = serveCanned(() => answer);
  const metrics = createPodMetrics(server.connection);
  await fc.assert(
    fc.asyncProperty(mutatedJSON(podMetrics(item(), item())), async (mutated) => {
      answer = new Response(JSON.stringify(mutated) ?? "");
      const answered = await metrics.read(signal);
      if ("problem" in answered) return;
      for (const { timeMs, containers } of answered.pods) {
        assert.ok(Number.isFinite(timeMs));
        assert.ok(containers.every(({ cpu, memory }) => cpu >= 0 && memory >= 0));
      }
    }),
  );
});
