import assert from "node:assert/strict";
import fc from "fast-check";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { createPodMetrics } from "./pod_metrics.ts";

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
