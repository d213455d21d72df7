import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Checkpoint, CheckpointStore } from "../../../shared/control/persisted_map.ts";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { type CannedServer, serveCanned } from "../../../tests/fixtures/canned_server.ts";
import type { UsageProblem, UsageQuestion, WorkloadIdentity } from "../ports.ts";
import type { PodMetrics, PodUsage } from "./pod_owners.ts";
import { connectUsageSampler, UsageSampler } from "./usage_sampler.ts";

const START_MS = 1_767_225_600_000;
const HOUR_MS = 3_600_000;
const INTERVAL_MS = 30_000;
const WEB: WorkloadIdentity = { kind: "Deployment", name: "web", uid: "u1" };

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A cluster with one pod of one workload, with an API server and samplers that come and go. */
function stage() {
  const clock = createVirtualClock({ wallStart: START_MS });
  const kept = new Map<string, Checkpoint>();
  const logged: string[] = [];
  const world = {
    problem: undefined as UsageProblem | undefined,
    storeDown: false,
    exists: true,
    wanted: true,
    pods: true,
    reads: 0,
    writes: 0,
  };
  const metrics: PodMetrics = {
    read() {
      world.reads++;
      if (world.problem !== undefined) return Promise.resolve(world.problem);
      // A kubelet measures once a minute here, so each reading comes twice.
      const timeMs = Math.floor(clock.wall() / 60_000) * 60_000 - 5000;
      const usage = { name: "app", cpu: world.reads, memory: 1000 };
      const pod: PodUsage = { namespace: "shop", pod: "web-a", timeMs, containers: [usage] };
      return Promise.resolve({ pods: world.pods ? [pod] : [], unreadable: 0 });
    },
  };
  const guard = (): void => {
    if (world.storeDown) throw new ApiError(0, "Unreachable", "no server");
  };
  const store: CheckpointStore = {
    list: async () => (guard(), await Promise.resolve([...kept.values()])),
    apply: async (checkpoint) => {
      guard();
      world.writes++;
      await Promise.resolve(kept.set(checkpoint.name, checkpoint));
    },
    remove: async (name) => (guard(), void await Promise.resolve(kept.delete(name))),
  };
  const log = {
    ...silentLog,
    warn: (message: string, fields: object = {}) =>
      void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  const owner = { workload: WEB, containers: ["app"], windowMs: HOUR_MS };
  const owners = { ownerOf: () => owner, isWanted: () => world.wanted, exists: () => world.exists };

  /** A process; it ends cleanly, or crashes. */
  function begin() {
    const sampler = new UsageSampler({
      metrics,
      owners,
      store,
      clock,
      log,
      intervalMs: () => INTERVAL_MS,
    });
    const end = new AbortController();
    const running = sampler.run(end.signal);
    return {
      async ask() {
        const toMs = clock.wall();
        const question: UsageQuestion = {
          namespace: "shop",
          workload: WEB,
          pods: ["web-a"],
          otherPods: [],
          containers: ["app"],
          window: { fromMs: toMs - HOUR_MS, toMs },
        };
        return await sampler.usage(question);
      },
      async count(): Promise<number> {
        const answer = await this.ask();
        assert.ok("usage" in answer, JSON.stringify(answer));
        return answer.usage.get("app")?.cpu.count ?? -1;
      },
      async end() {
        end.abort();
        await pass(0);
        await running;
      },
    };
  }

  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  return { clock, kept, logged, world, begin, pass };
}

test("UsageSampler() reads each interval, and counts the same reading once", async () => {
  const { world, begin, pass } = stage();
  const process = begin();
  const before = await process.ask();
  assert.ok("problem" in before && before.problem === "unavailable");
  await pass(0);
  assert.equal(await process.count(), 1);
  await pass(10 * 60_000 - 1);
  assert.equal(world.reads, 20);
  assert.equal(await process.count(), 10);
  await process.end();
  const after = await process.ask();
  assert.ok("problem" in after && after.problem === "unavailable");
});

test("UsageSampler() loses nothing at a clean end, and counts nothing twice after it", async () => {
  const { begin, pass } = stage();
  const first = begin();
  await pass(10 * 60_000 - 1);
  await first.end();
  const second = begin();
  await pass(0);
  assert.equal(await second.count(), 10, "the latest reading was counted before");
  await pass(60_000);
  assert.equal(await second.count(), 11);
  await second.end();
});

test("UsageSampler() loses no more than the last interval of writing when it dies", async () => {
  const { clock, begin, pass, world } = stage();
  begin();
  await pass(17 * 60_000 + 30_000);
  // A copy of what would be there if the process had died now.
  const diedAt = clock.monotonic();
  assert.equal(world.writes, 5);
  const second = begin();
  await pass(0);
  // 18 readings so far, 16 of them until the write after 15 minutes, and the present one.
  assert.equal(await second.count(), 17);
  assert.equal(clock.monotonic(), diedAt);
});

test("UsageSampler() answers from its history while readings fail for a while, and not for ever", async () => {
  const { world, begin, pass, logged } = stage();
  const process = begin();
  await pass(60_000);
  const known = await process.count();
  world.problem = { problem: "unreachable", message: "gone" };
  await pass(4 * INTERVAL_MS);
  assert.equal(await process.count(), known);
  await pass(INTERVAL_MS);
  assert.deepEqual(await process.ask(), world.problem);
  assert.equal(logged.length, 1, "once");
  world.problem = undefined;
  await pass(INTERVAL_MS);
  assert.ok(await process.count() > known);
  await process.end();
});

test("UsageSampler() samples nothing over a history that it can't read", async () => {
  const { world, begin, pass, kept } = stage();
  const first = begin();
  await pass(10 * 60_000 - 1);
  await first.end();
  world.storeDown = true;
  const reads = world.reads;
  const second = begin();
  await pass(5 * 60_000);
  assert.equal(world.reads, reads);
  const answer = await second.ask();
  assert.ok("problem" in answer && answer.problem === "unavailable");
  assert.match(answer.message, /no server/);
  world.storeDown = false;
  await pass(60_000);
  assert.ok(await second.count() > 10);
  assert.equal(kept.size, 1);
  await second.end();
});

test("UsageSampler() writes nothing that has not changed, and deletes histories of deleted workloads", async () => {
  const { world, begin, pass, kept } = stage();
  const process = begin();
  await pass(3 * 60_000);
  assert.equal(world.writes, 1);
  await pass(60_000);
  world.pods = false;
  await pass(30 * 60_000);
  assert.equal(world.writes, 2, "what was read after the first write");
  world.exists = false;
  await pass(5 * 60_000);
  assert.deepEqual([...kept.keys()], []);
  assert.equal(await process.count(), 0);
  await process.end();
});

test("UsageSampler() reads nothing while no policy needs it, and keeps its history", async () => {
  const { world, begin, pass, logged } = stage();
  const process = begin();
  await pass(10 * 60_000 - 1);
  world.wanted = false;
  world.problem = { problem: "unreachable", message: "gone" };
  const [known, reads] = [await process.count(), world.reads];
  await pass(30 * 60_000);
  assert.deepEqual([await process.count(), world.reads, logged], [known, reads, []]);
  world.problem = undefined;
  world.wanted = true;
  await pass(60_000);
  assert.ok(await process.count() > known && world.reads > reads);
  world.wanted = false;
  world.exists = false;
  await pass(60_000);
  assert.equal(await process.count(), 0);
  await process.end();
});

test("UsageSampler() has no samples for the first question, rather than a problem", async () => {
  const { world, begin, pass } = stage();
  world.wanted = false;
  const process = begin();
  await pass(0);
  assert.deepEqual([await process.count(), world.reads], [0, 0]);
  await process.end();
});

test("UsageSampler() says since when it samples a workload: since the first question, or since a policy needs it again", async () => {
  const { clock, world, begin, pass } = stage();
  const process = begin();
  const watched = async (): Promise<number | undefined> => {
    const answer = await process.ask();
    assert.ok("usage" in answer);
    return answer.watchedSinceMs;
  };
  await pass(60 * 60_000);
  const firstMs = clock.wall();
  assert.equal(await watched(), firstMs);
  await pass(20 * 60_000);
  assert.equal(await watched(), firstMs);
  world.wanted = false;
  await pass(60_000);
  world.wanted = true;
  assert.equal(await watched(), clock.wall());
  world.exists = false;
  await pass(60_000);
  assert.equal(await watched(), clock.wall());
  await process.end();
});

const NOW_MS = Date.UTC(2026, 0, 1);
const SERVED_WEB = { kind: "Deployment", name: "web", uid: "uid-web" } as const;
const QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: SERVED_WEB,
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
  const owner = { workload: SERVED_WEB, containers: ["app"], windowMs: HOUR_MS };
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
  const answer = await sampler.usage(QUESTION);
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
