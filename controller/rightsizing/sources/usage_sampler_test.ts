import fc from "fast-check";
import assert from "node:assert/strict";
import type {
  KubePodMetricsReader,
  KubePodUsage,
} from "../../../adapters/kube/kinds/pod_metrics.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { silentLog } from "../../../shared/log.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../../tests/fixtures/rightsizing/kept_checkpoints.ts";
import type { UsageProblem, UsageQuestion, WorkloadIdentity } from "../ports.ts";
import type { PodOwner } from "./pod_owners.ts";
import { readHistory, storedHistory, UsageHistory, type WorkloadHistory } from "./usage_history.ts";
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
    ofReading: () => () => owner,
    isWanted: () => world.wanted,
    workloadUIDs: () => new Set(world.exists ? [WEB.uid] : []),
  };
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);

  /** A process; it ends cleanly, or crashes. */
  function begin() {
    const intervalMs = () => INTERVAL_MS;
    const sampler = new UsageSampler({
      ...{ metrics, owners, store, clock, log, intervalMs, slots: 16 },
    });
    const end = new AbortController();
    const running = sampler.run(end.signal);
    const ask = () => {
      const toMs = clock.wall();
      const question: UsageQuestion = {
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

pure("UsageSampler() loses no more than the last interval of writing when it dies", async () => {
  const { clock, begin, pass, store } = stage();
  begin();
  await pass(17 * 60_000 + 30_000);
  // A copy of what would be there if the process had died now.
  const diedAt = clock.monotonic();
  assert.equal(store.writes.length, 5);
  const second = begin();
  await pass(0);
  // 18 readings so far, 16 of them until the write after 15 minutes, and the present one.
  assert.equal(await second.count(), 17);
  assert.equal(clock.monotonic(), diedAt);
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

const NOW_MS = 1_767_225_600_000;
const OWNER: PodOwner = { uid: WEB.uid, containers: ["app", "proxy"], windowMs: HOUR_MS };

function reading(over: Partial<KubePodUsage> & { cpu?: number } = {}): KubePodUsage {
  const { cpu = 100, ...rest } = over;
  const containers = ["app", "proxy", "init"].map((name) => ({ name, cpu, memory: 2 * cpu }));
  return { namespace: "shop", pod: "web-a", timeMs: NOW_MS, containers, ...rest };
}

function question(toMs = NOW_MS, windowMs = HOUR_MS): UsageQuestion {
  return {
    namespace: "shop",
    workload: WEB,
    pods: ["web-a"],
    otherPods: [],
    containers: ["app", "proxy"],
    window: { fromMs: toMs - windowMs, toMs },
  };
}

function historyStage(kept = new Map<string, WorkloadHistory>()) {
  const history = new UsageHistory(kept, 16);
  const add = (reading: KubePodUsage, { owner = OWNER, nowMs = NOW_MS } = {}): void =>
    history.add(reading, { owner, nowMs });
  const app = (asked = question()) =>
    history.usage(asked, asked.window.toMs).get("app") ?? assert.fail();
  return { kept, history, add, app };
}

pure("add() counts a reading of a pod once, over all pods, of the owner's containers only", () => {
  const { kept, history, add, app } = historyStage();
  assert.equal(app().cpu.count, 0);
  for (const timeMs of [NOW_MS, NOW_MS, NOW_MS - 1]) add(reading({ timeMs }));
  assert.equal(app().cpu.count, 1);
  add(reading({ pod: "web-b", cpu: 300 }));
  const { cpu, memory } = app();
  assert.deepEqual([cpu.count, cpu.min, cpu.max], [2, 100, 300]);
  assert.deepEqual([memory.count, memory.min, memory.max], [2, 200, 600]);
  assert.deepEqual([...history.usage(question(), NOW_MS).keys()], ["app", "proxy"]);
  assert.equal(kept.get("u1")?.containers.has("init"), false);
  const other = { ...question(), workload: { ...WEB, uid: "made again" } };
  assert.equal(app(other).cpu.count, 0);
});

pure("add() passes over readings that are too old to know whether they were counted", () => {
  const { add, app } = historyStage();
  add(reading({ timeMs: NOW_MS - 600_000 }));
  assert.equal(app().cpu.count, 0);
  add(reading({ timeMs: NOW_MS - 599_999 }));
  assert.equal(app().cpu.count, 1);
});

pure("add() counts nothing of the time that an earlier process has counted", () => {
  const countedMs = NOW_MS - 100;
  const before = { newestMs: countedMs, countedMs, containers: new Map() };
  const { add, app } = historyStage(new Map([["u1", before]]));
  for (const pod of ["web-a", "web-b"]) {
    add(reading({ pod, timeMs: countedMs }));
    add(reading({ pod, timeMs: countedMs + 1 }));
  }
  assert.equal(app().cpu.count, 2);
});

pure("property 12: usage() has samples of (now - window, now]", () => {
  const offset = fc.integer({ min: -900_000, max: 900_000 });
  fc.assert(fc.property(
    fc.array(offset, { minLength: 1, maxLength: 30 }),
    fc.integer({ min: 1, max: 900_000 }),
    (offsets, windowMs) => {
      const { add, app } = historyStage();
      for (const [at, ms] of offsets.entries()) {
        add(reading({ pod: `web-${at}`, timeMs: NOW_MS + ms }));
      }
      const { cpu } = app(question(NOW_MS, windowMs));
      const counts = (sinceMs: number): number =>
        offsets.filter((ms) => ms > -sinceMs && ms > -600_000).length;
      // A part of the ring that the window cuts is left out.
      assert.ok(cpu.count <= counts(windowMs));
      assert.ok(cpu.count >= counts(windowMs - HOUR_MS / 16));
      if (cpu.count === 0) return;
      assert.ok(cpu.oldestMs > NOW_MS - windowMs && cpu.newestMs <= NOW_MS);
    },
  ));
});

pure("add() keeps what there is when the window changes, as far as it covers it", () => {
  const { add, app } = historyStage();
  add(reading({ timeMs: NOW_MS - 300_000 }));
  add(reading());
  const owner = { ...OWNER, windowMs: 200_000 };
  add(reading({ timeMs: NOW_MS + 1 }), { owner, nowMs: NOW_MS + 1 });
  assert.equal(app(question(NOW_MS + 1)).cpu.count, 2);
});

pure("readHistory() reads what storedHistory() makes, in whatever shape rings now have", () => {
  const { kept, add } = historyStage();
  add(reading({ cpu: 0.5 }));
  add(reading({ pod: "web-b", timeMs: NOW_MS - 500_000, cpu: 1e9 }));
  const one = kept.get("u1") ?? assert.fail();
  const stored = JSON.parse(JSON.stringify(storedHistory(one)));
  for (const slots of [16, 32]) {
    const read = readHistory(stored, { nowMs: NOW_MS, slots });
    assert.deepEqual([read.newestMs, read.countedMs], [NOW_MS, NOW_MS]);
    const { cpu, memory } = historyStage(new Map([["u1", read]])).app();
    assert.deepEqual([cpu.count, cpu.min, cpu.max, cpu.oldestMs], [2, 0.5, 1e9, NOW_MS - 500_000]);
    assert.deepEqual([memory.count, memory.min, memory.max], [2, 1, 2e9]);
  }
  assert.equal(readHistory(stored, { nowMs: NOW_MS - 1, slots: 16 }).newestMs, NOW_MS - 1);
  for (
    const [key, value] of Object.entries({ newestMs: "", windowMs: 0, containers: { app: {} } })
  ) {
    const read = () => readHistory({ ...stored, [key]: value }, { nowMs: NOW_MS, slots: 16 });
    assert.throws(read, SyntaxError);
  }
});
