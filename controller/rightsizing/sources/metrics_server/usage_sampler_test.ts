import assert from "node:assert/strict";
import type { KubePodMetricsReader } from "../../../../adapters/kube/kinds/pod_metrics.ts";
import { createVirtualClock } from "../../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import { silentLog } from "../../../../shared/log.ts";
import {
  SCENE,
  SCENE_MINUTES,
  SCENE_STEP_MS,
  SCENE_WINDOW_MS,
  usesAt,
} from "../../../../tests/contract/support/usage_scene.ts";
import { usageSourceContract } from "../../../../tests/contract/usage_contracts.ts";
import { pure } from "../../../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../../../tests/fixtures/rightsizing/recorded_ports.ts";
import type { UsageProblem, UsageQuery, WorkloadIdentity } from "../../ports.ts";
import { UsageSampler } from "./usage_sampler.ts";

const START_MS = 1_767_225_600_000;
const HOUR_MS = 3_600_000;
const INTERVAL_MS = 30_000;
const WEB: WorkloadIdentity = { kind: "Deployment", name: "web", uid: "u1" };

/** A cluster with one pod of one workload, with an API server and samplers that come and go. */
function stage() {
  const clock = createVirtualClock({ wallStart: START_MS });
  const store = keptCheckpoints();
  const logged: string[] = [];
  const world = {
    problem: undefined as UsageProblem | undefined,
    exists: true,
    wanted: true,
    pods: true,
    reads: 0,
  };
  const metrics: KubePodMetricsReader = {
    read() {
      world.reads++;
      if (world.problem !== undefined) return Promise.resolve(world.problem);
      // A kubelet measures once a minute here, so each reading comes twice.
      const timeMs = Math.floor(clock.wall() / 60_000) * 60_000 - 5000;
      const usage = { name: "app", cpu: world.reads, memory: 1000 };
      const pod = { namespace: "shop", pod: "web-a", timeMs, containers: [usage] };
      return Promise.resolve({ pods: world.pods ? [pod] : [], unreadable: 0 });
    },
  };
  const log = {
    ...silentLog,
    warn: (message: string) => void logged.push(message),
    info: (message: string) => void logged.push(message),
  };
  const owner = { uid: WEB.uid, containers: ["app"], windowMs: HOUR_MS };
  const owners = {
    createLookup: () => () => owner,
    isWanted: () => world.wanted,
    workloadUIDs: () => new Set(world.exists ? [WEB.uid] : []),
  };
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);

  function begin() {
    const intervalMs = () => INTERVAL_MS;
    const sampler = new UsageSampler({
      ...{ metrics, owners, store, clock, log, intervalMs, slots: 16 },
    });
    const end = new AbortController();
    const running = sampler.run(end.signal);
    const ask = () => {
      const toMs = clock.wall();
      const question: UsageQuery = {
        namespace: "shop",
        workload: WEB,
        pods: ["web-a"],
        otherPods: [],
        containers: ["app"],
        window: { fromMs: toMs - HOUR_MS, toMs },
      };
      return sampler.usage(question);
    };
    const answer = async () => {
      const answer = await ask();
      assert.ok("usage" in answer, JSON.stringify(answer));
      return answer;
    };
    return {
      ask,
      watchedSinceMs: async () => (await answer()).watchedSinceMs,
      count: async () => (await answer()).usage.get("app")?.cpu.count ?? -1,
      async end() {
        end.abort();
        await pass(0);
        await running;
      },
    };
  }
  return { clock, store, logged, world, begin, pass };
}

pure("UsageSampler() reads each interval, and counts the same reading once", async () => {
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

pure("UsageSampler() loses nothing at a clean end, and counts nothing twice after it", async () => {
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

pure("UsageSampler() answers from history while readings fail for a while", async () => {
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
  assert.equal(logged.length, 2, "and that it can be read again");
  await process.end();
});

pure("UsageSampler() samples nothing over a history that it can't read", async () => {
  const { world, begin, pass, store } = stage();
  const first = begin();
  await pass(10 * 60_000 - 1);
  await first.end();
  store.refusal = new ApiError(0, "Unreachable", "no server");
  const reads = world.reads;
  const second = begin();
  await pass(5 * 60_000);
  assert.equal(world.reads, reads);
  const answer = await second.ask();
  assert.ok("problem" in answer && answer.problem === "unavailable");
  assert.match(answer.message, /no server/);
  store.refusal = undefined;
  await pass(60_000);
  assert.ok(await second.count() > 10);
  assert.equal(store.kept.size, 1);
  await second.end();
});

pure("UsageSampler() writes changes, and deletes histories of deleted workloads", async () => {
  const { world, begin, pass, store } = stage();
  const process = begin();
  await pass(3 * 60_000);
  assert.equal(store.writes.length, 1);
  await pass(60_000);
  world.pods = false;
  await pass(30 * 60_000);
  assert.equal(store.writes.length, 2, "what was read after the first write");
  world.exists = false;
  await pass(5 * 60_000);
  assert.equal(store.kept.size, 0);
  assert.equal(await process.count(), 0);
  await process.end();
});

pure("UsageSampler() reads nothing while no policy needs it, and keeps its history", async () => {
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

pure("UsageSampler() dates its samples by the first question for a workload", async () => {
  const { clock, world, begin, pass } = stage();
  const process = begin();
  await pass(60 * 60_000);
  const firstMs = clock.wall();
  assert.equal(await process.watchedSinceMs(), firstMs);
  await pass(20 * 60_000);
  assert.equal(await process.watchedSinceMs(), firstMs);
  world.wanted = false;
  await pass(60_000);
  world.wanted = true;
  assert.equal(await process.watchedSinceMs(), clock.wall());
  world.exists = false;
  await pass(60_000);
  assert.equal(await process.watchedSinceMs(), clock.wall());
  await process.end();
});

const END_MS = Date.UTC(2026, 0, 1);
const GONE: UsageProblem = { problem: "unreachable", message: "connection refused" };

usageSourceContract("UsageSampler()", async () => {
  const lengthMs = SCENE_MINUTES * 60_000;
  const clock = createVirtualClock({ wallStart: END_MS - lengthMs });
  const end = new AbortController();
  let up = true;
  const pods = [...new Map(SCENE.map((use) => [`${use.namespace}/${use.pod}`, use])).values()];
  const subject = new UsageSampler({
    metrics: {
      read() {
        if (!up) return Promise.resolve(GONE);
        const timeMs = Math.floor(clock.wall() / SCENE_STEP_MS) * SCENE_STEP_MS;
        const uses = usesAt(timeMs, END_MS);
        const read = pods.map(({ namespace, pod }) => ({
          namespace,
          pod,
          timeMs,
          containers: uses.filter((use) => use.pod === pod && use.namespace === namespace)
            .map(({ container: name, millicores, bytes }) => ({
              name,
              cpu: millicores,
              memory: bytes,
            })),
        }));
        return Promise.resolve({ pods: read, unreadable: 0 });
      },
    },
    owners: {
      createLookup: () => ({ namespace, name }) => {
        const uid = pods.find(({ pod, ...at }) => pod === name && at.namespace === namespace)?.uid;
        if (uid === undefined) return undefined;
        return { uid, containers: ["app", "proxy"], windowMs: SCENE_WINDOW_MS };
      },
      isWanted: () => true,
      workloadUIDs: () => undefined,
    },
    store: keptCheckpoints(),
    clock,
    log: silentLog,
    intervalMs: () => 30_000,
    slots: 16,
  });
  const running = subject.run(end.signal);
  await clock.runUntil(lengthMs);
  return {
    subject,
    endMs: END_MS,
    async stop() {
      up = false;
      await clock.runUntil(clock.monotonic() + 300_000);
    },
    async close() {
      end.abort();
      await clock.runUntil(clock.monotonic());
      await running;
    },
  };
});
