import assert from "node:assert/strict";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import { type CannedServer, serveCanned } from "../../../tests/fixtures/canned_server.ts";
import type { UsageQuestion } from "../ports.ts";
import { connectUsageSampler } from "./connect_usage_sampler.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const WEB = { kind: "Deployment", name: "web", uid: "uid-web" } as const;
const HOUR_MS = 3_600_000;

const QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: WEB,
  pods: ["web-a"],
  otherPods: [],
  containers: ["app"],
  window: { fromMs: NOW_MS - HOUR_MS, toMs: NOW_MS },
};

/** An API server with one pod that uses half a core, and its ConfigMaps. */
function serveAPI(): CannedServer {
  const maps = new Map<string, unknown>();
  return serveCanned(({ method, path, body }) => {
    if (path === "/apis/metrics.k8s.io/v1beta1/pods") {
      const usage = { cpu: "500123456n", memory: "64Mi" };
      const pod = {
        metadata: { namespace: "shop", name: "web-a" },
        timestamp: new Date(NOW_MS - 5000).toISOString(),
        containers: [{ name: "app", usage }],
      };
      return { kind: "PodMetricsList", items: [pod] };
    }
    if (method === "GET") return { items: [...maps.values()] };
    const { metadata, ...rest } = body as { metadata: { name: string } };
    maps.set(metadata.name, { ...rest, metadata: { ...metadata, uid: "u", resourceVersion: "1" } });
    return {};
  });
}

/** One life of a sampler: it reads once, is asked, and ends. */
async function live(server: CannedServer): Promise<number> {
  const clock = createVirtualClock({ wallStart: NOW_MS });
  const [end, read] = [new AbortController(), Promise.withResolvers<void>()];
  const owner = { workload: WEB, containers: ["app"], windowMs: HOUR_MS };
  const sampler = connectUsageSampler(server.connection, {
    namespace: "mbcas-system",
    owners: {
      ownerOf: () => owner,
      isWanted: () => true,
      // Asked for after each reading.
      exists: () => (read.resolve(), true),
    },
    clock,
    log: silentLog,
    intervalMs: () => 30_000,
  });
  const running = sampler.run(end.signal);
  await read.promise;
  const answer = await sampler.usage(QUESTION, end.signal);
  end.abort();
  await running;
  assert.ok("usage" in answer);
  const { cpu, memory } = answer.usage.get("app") ?? assert.fail();
  assert.ok(Math.abs(cpu.max - 500.123456) < 1e-6, String(cpu.max));
  assert.equal(memory.max, 64 * 2 ** 20);
  return cpu.count;
}

Deno.test("connectUsageSampler() reads metrics-server, and its history outlives it in a ConfigMap", async () => {
  await using server = serveAPI();
  assert.equal(await live(server), 1);
  assert.equal(await live(server), 1, "the same reading, known from the history");
  const written = server.requests.filter(({ method }) => method === "PATCH");
  assert.deepEqual(written.map(({ path }) => path), [
    "/api/v1/namespaces/mbcas-system/configmaps/mbcas-usage-0",
  ]);
});
