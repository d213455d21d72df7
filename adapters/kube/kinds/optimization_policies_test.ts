import fc from "fast-check";
import assert from "node:assert/strict";
import { type Log, type LogFields, silentLog } from "../../../shared/log.ts";
import type { PolicyDefaults } from "../../../shared/rightsizing/policy_spec.ts";
import { recordsOf, reportParts } from "../../../shared/rightsizing/reports.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import {
  optimizationPolicyListWatch,
  parseOptimizationPolicy,
  parseRecommendationReport,
} from "./optimization_policies.ts";
import { createPodMetrics } from "./pod_metrics.ts";

const GOLDEN = JSON.parse(
  Deno.readTextFileSync(
    new URL("../../../tests/fixtures/optipod/stored/policy.json", import.meta.url),
  ),
);
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
  assert.deepEqual(metadata, {
    name: "production",
    namespace: "optipod-policies",
    uid: "0b6f1c1e-6d5b-4d0c-9a53-0a6f5f0f3a11",
    resourceVersion: "4711",
    generation: 2,
  });
  assert.deepEqual(spec, {
    mode: "Auto",
    weight: 500,
    selector: {
      namespaceSelector: { matchLabels: { environment: "production" }, matchExpressions: [] },
      namespaces: { allow: [], deny: ["kube-system"] },
      workloadKinds: ["Deployment", "StatefulSet"],
    },
    provider: "prometheus",
    windowMs: 7 * 86_400_000,
    percentile: "P95",
    safetyFactor: 1.2,
    minSamples: 100,
    bounds: { cpu: { min: 100, max: 4000 }, memory: { min: 128 * 2 ** 20, max: 8 * 2 ** 30 } },
    updateStrategy: {
      allowInPlaceResize: true,
      allowRecreate: false,
      updateRequestsOnly: true,
      limitMultipliers: { cpu: 1, memory: 1.1 },
      changeThresholdPercent: 15,
      cooldownMs: 5_400_000,
      useServerSideApply: true,
      allowWithHPA: false,
      publishVPA: true,
    },
    intervalMs: 600_000,
  });
});

Deno.test("optimizationPolicyListWatch() lists a policy that can't be read, and says why", async () => {
  await using server = serveCanned(() => ({
    metadata: { resourceVersion: "9" },
    items: [GOLDEN, MALFORMED],
  }));
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

const REPORT = JSON.parse(
  Deno.readTextFileSync(
    new URL("../../../tests/fixtures/optipod/stored/report.json", import.meta.url),
  ),
);

Deno.test("parseRecommendationReport() reads a report that the first version stored, unchanged", () => {
  const report = parseRecommendationReport(REPORT);
  assert.deepEqual(report, REPORT);
  const records = recordsOf([report], "shop");
  assert.deepEqual(records.map(({ workload, inForce }) => [workload.name, inForce]), [
    ["db", [{ container: "db", memory: 2 ** 30 }]],
    ["queue", [{
      container: "queue",
      cpu: 200,
      memory: 88_617_123,
      cpuLimit: 800,
      memoryLimit: 97_478_835,
    }]],
  ]);
  assert.deepEqual(reportParts(records), [
    { name: "recommendations-1", workloads: REPORT.workloads },
  ]);
});

Deno.test("property 31: parseRecommendationReport() reads back what was written, unchanged", () => {
  const { metadata, apiVersion, kind } = REPORT;
  fc.assert(
    fc.property(workloadRecords("shop"), (records) => {
      for (const { workloads } of reportParts(records)) {
        const stored = JSON.parse(JSON.stringify({ apiVersion, kind, metadata, workloads }));
        const report = parseRecommendationReport(stored);
        assert.deepEqual(report, stored);
        // Parts made of the parsed report have the same text: reading and writing change nothing.
        const again = reportParts(recordsOf([report], "shop")).map((part) => part.workloads);
        assert.deepEqual(JSON.parse(JSON.stringify(again.flat())), stored.workloads);
      }
    }),
  );
});

const NEVER = new AbortController().signal;

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

function list(...items: readonly unknown[]): unknown {
  return { kind: "PodMetricsList", apiVersion: "metrics.k8s.io/v1beta1", metadata: {}, items };
}

async function read(answer: unknown) {
  await using server = serveCanned(() => answer);
  const answered = await createPodMetrics(server.connection).read(NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown) {
  const { answered } = await read(answer);
  assert.ok("problem" in answered, JSON.stringify(answered));
  assert.notEqual(answered.message, "");
  return answered.problem;
}

Deno.test("createPodMetrics() reads all namespaces with one request, in millicores and bytes", async () => {
  const { answered, requests } = await read(list(item()));
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
  const { answered } = await read(list(item(), ...spoilt));
  assert.ok("pods" in answered);
  assert.deepEqual([answered.pods.length, answered.unreadable], [1, spoilt.length]);
});

Deno.test("createPodMetrics() reports why there are none", async () => {
  assert.equal(await problemOf(statusAnswer(404, { message: "page not found" })), "unavailable");
  assert.equal(await problemOf(statusAnswer(503, { message: "unable" })), "unavailable");
  assert.equal(await problemOf(statusAnswer(403, { message: "may not" })), "refused");
  assert.equal(await problemOf(statusAnswer(429, { message: "slow" })), "unreachable");
  assert.equal(await problemOf(statusAnswer(500, { message: "oh" })), "unreachable");
  assert.equal(await problemOf(new Response("<html>")), "unreadable");
  assert.equal(await problemOf({ kind: "PodList", items: [] }), "unreadable");
  const gone = serveCanned(() => "");
  await gone[Symbol.asyncDispose]();
  const answered = await createPodMetrics(gone.connection).read(NEVER);
  assert.ok("problem" in answered && answered.problem === "unreachable");
});

Deno.test("createPodMetrics() gives readings that can be counted, or a problem, for any answer", async () => {
  let answer: unknown;
  await using server = serveCanned(() => answer);
  const metrics = createPodMetrics(server.connection);
  await fc.assert(
    fc.asyncProperty(mutatedJSON(list(item(), item())), async (mutated) => {
      answer = new Response(JSON.stringify(mutated) ?? "");
      const answered = await metrics.read(NEVER);
      if ("problem" in answered) return;
      for (const { timeMs, containers } of answered.pods) {
        assert.ok(Number.isFinite(timeMs));
        assert.ok(containers.every(({ cpu, memory }) => cpu >= 0 && memory >= 0));
      }
    }),
  );
});
