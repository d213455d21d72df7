import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { NodeSample } from "../shared/cgroup/sample.ts";
import { createInformer } from "../shared/control/informer.ts";
import { type Log, silentLog } from "../shared/log.ts";
import { parseCPU } from "../shared/quantity.ts";
import { seededRandom } from "../shared/random.ts";
import { createSimulatedAPI } from "../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleReading,
} from "../tests/fixtures/market/sample_participants.ts";
import { type NodeLoopOptions, runNodeLoop } from "./loop.ts";
import type { RoundResult } from "./market/round.ts";

const MINUTE_MS = 60_000;
const PODS = ["a", "b"] as const;

/**
 * A server with two pods on a node of four CPUs; limits are in force as soon as they are written. What
 * the watch delivers comes `lagMs` late, and each sleep of the agent takes `overMs` longer.
 */
function stage({ lagMs = 0, overMs = 0 } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const { Node: nodes, PodAllocation: allocations } = api.store.tables;
  nodes.seed(sampleNode("node-1"));
  for (const pod of PODS) allocations.seed(boundedAllocation(pod));
  /** Millicores that each pod would use; `unmanaged` takes no part. */
  const demand = new Map<string, number>(PODS.map((pod) => [pod, 300]));
  const kernel = { ignoresLimits: false };
  const limitOf = (pod: string): number =>
    parseCPU(
      allocations.get(`shop/${pod}`)?.spec.desiredCPULimit ??
        (pod === "unmanaged" ? "4" : "500m"),
    );

  const sample = (at: number): NodeSample => {
    const containers = [...demand.keys()].map((pod) => {
      const quota = limitOf(pod);
      const wanted = demand.get(pod) ?? 0;
      const throttledMsPerS = Math.max(0, wanted - quota);
      const throttledPeriods = throttledMsPerS > 0 ? 2 : 0;
      const usage = wanted - throttledMsPerS;
      return sampleReading(pod, { at, usage, throttledMsPerS, throttledPeriods, quota });
    });
    const byID = new Map(containers.map((sample) => [sample.containerID, sample]));
    return { at, containers: byID, unmanaged: 0 };
  };

  async function* late<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const event of events) {
      if (lagMs > 0) await clock.sleep(lagMs);
      yield event;
    }
  }

  const startAgent = (options: NodeLoopOptions = {}) => {
    const abort = new AbortController();
    const { signal } = abort;
    const rounds: RoundResult[] = [];
    const warnings: string[] = [];
    const samples = { count: 0, lateMs: 0 };
    const random = seededRandom(2);
    const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
    const source = api.listWatch("PodAllocation", { nodeName: "node-1" });
    const informer = createInformer({
      source: { list: source.list, watch: (...from) => late(source.watch(...from)) },
      clock,
      random,
      log: silentLog,
      name: "PodAllocation",
    });
    const parts = {
      allocations: informer,
      sample,
      limitsIgnored: () => kernel.ignoresLimits,
      writer: api.desiredWriter("node-1"),
      link: api.nodeLink("node-1"),
      clock: {
        ...clock,
        sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms + overMs, signal),
      },
      // In the middle of what a heartbeat may take.
      random: { next: () => 0.5 },
      log,
    };
    const observe = (round: RoundResult): void => void rounds.push(round);
    const ended = Promise.all([
      informer.run(signal),
      runNodeLoop(parts, signal, {
        idleCPU: "tight",
        ...options,
        observe,
        sampled: (_tookMs, lateMs) => {
          samples.count++;
          samples.lateMs += lateMs;
        },
      }),
    ]);
    const stop = async (): Promise<void> => {
      abort.abort();
      await clock.runUntil(clock.monotonic() + lagMs + 1000);
      await ended;
    };
    return { samples, rounds, warnings, stop };
  };
  const writes = (): number => api.requests.get("patch PodAllocation") ?? 0;
  const renewals = (): number => api.requests.get("patch Lease") ?? 0;
  return { clock, api, allocations, nodes, demand, kernel, limitOf, startAgent, writes, renewals };
}

pure("runNodeLoop() samples more often while 80 % of the node's CPU are used", async () => {
  const { clock, demand, startAgent } = stage();
  const { samples, stop } = startAgent({ idleCPU: "free" });
  await clock.runUntil(MINUTE_MS);
  const looksIn10s = async (usage: number): Promise<number> => {
    demand.set("unmanaged", usage);
    await clock.runUntil(clock.monotonic() + 1000);
    const before = samples.count;
    await clock.runUntil(clock.monotonic() + 10_000);
    return samples.count - before;
  };
  assert.equal(await looksIn10s(2000), 40);
  assert.equal(await looksIn10s(3000), 100);
  await stop();
});

pure("runNodeLoop() reports by how much its samples are late", async () => {
  const { clock, startAgent } = stage({ overMs: 30 });
  const { samples, stop } = startAgent();
  await clock.runUntil(MINUTE_MS);
  assert.ok(samples.count > 200);
  assert.equal(Math.round(samples.lateMs / samples.count), 30);
  await stop();
});

pure(
  "runNodeLoop() writes nothing but its lease, once a minute, when nothing changes",
  async () => {
    const { clock, startAgent, writes, renewals } = stage();
    const { stop } = startAgent();
    await clock.runUntil(3 * MINUTE_MS);
    const before = { writes: writes(), renewals: renewals() };
    assert.ok(before.writes >= PODS.length);
    await clock.runUntil(8 * MINUTE_MS);
    assert.equal(writes(), before.writes);
    assert.equal(renewals(), before.renewals + 5);
    await stop();
  },
);

pure("runNodeLoop() raises a limit within a second of the demand", async () => {
  const { clock, demand, limitOf, startAgent } = stage();
  const { stop } = startAgent();
  await clock.runUntil(5000);
  demand.set("a", 1000);
  await clock.runUntil(6000);
  assert.ok(limitOf("a") >= 1000, `the limit is ${limitOf("a")}`);
  await stop();
});

for (const idleCPU of ["tight", "free"] as const) {
  pure(`runNodeLoop() writes nothing while the kernel ignores limits (${idleCPU})`, async () => {
    const { clock, api, allocations, demand, kernel, limitOf, startAgent, writes } = stage();
    const after = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
    kernel.ignoresLimits = true;
    const { rounds, warnings, stop } = startAgent({ idleCPU });
    await after(5000);
    // Demand and bounds that would move limits.
    demand.set("a", 1000);
    const containers = [sampleBounds("b", { floor: 700, ceiling: 800 })];
    const bounds = { revision: 9, reason: "", containers };
    allocations.modify("shop/b", (one) => ({ ...one, status: { ...one.status, bounds } }));
    await after(2 * MINUTE_MS);
    assert.deepEqual([writes(), warnings.length], [0, 1]);
    assert.deepEqual(rounds.at(-1)?.containers.map(({ limit }) => limit), [500, 500]);
    kernel.ignoresLimits = false;
    await after(5000);
    assert.ok(limitOf("a") >= 1000 && limitOf("b") >= 700, `${limitOf("a")} ${limitOf("b")}`);
    // What waits for a server that is away is not sent later.
    api.stop();
    demand.set("a", 2000);
    await after(5000);
    const limit = limitOf("a");
    kernel.ignoresLimits = true;
    await after(1000);
    api.start();
    await after(2 * MINUTE_MS);
    assert.equal(limitOf("a"), limit);
    kernel.ignoresLimits = false;
    await after(10_000);
    assert.ok(limitOf("a") >= 2000, `${limitOf("a")}`);
    await stop();
  });
}

pure("runNodeLoop() goes on while the API is down, and writes when it is back", async () => {
  const { clock, api, demand, limitOf, startAgent } = stage();
  const { samples, rounds, stop } = startAgent();
  await clock.runUntil(5000);
  const limit = limitOf("a");
  api.stop();
  demand.set("a", 1500);
  const before = rounds.length;
  const samplesBefore = samples.count;
  await clock.runUntil(25_000);
  assert.equal(limitOf("a"), limit);
  // A sample each sampling interval of 250 ms, a round each second.
  assert.ok(samples.count - samplesBefore >= 79, `${samples.count - samplesBefore} samples`);
  assert.ok(rounds.length - before >= 19, `${rounds.length - before} rounds`);
  api.start();
  await clock.runUntil(25_000 + 30_000 + 2000);
  assert.ok(limitOf("a") >= 1500, `the limit is ${limitOf("a")}`);
  await stop();
});

pure("runNodeLoop() begins once the API is there", async () => {
  const { clock, api, startAgent, writes } = stage();
  api.stop();
  const { rounds, stop } = startAgent();
  await clock.runUntil(20_000);
  assert.equal(rounds.length, 0);
  api.start();
  await clock.runUntil(MINUTE_MS);
  assert.ok(rounds.length > 0 && writes() >= PODS.length);
  await stop();
});

pure("runNodeLoop() takes over the limits of an agent before it without a change", async () => {
  const { clock, startAgent, writes, limitOf } = stage();
  const first = startAgent({ idleCPU: "free" });
  await clock.runUntil(3 * MINUTE_MS);
  await first.stop();
  const before = { writes: writes(), limits: PODS.map(limitOf) };
  const second = startAgent({ idleCPU: "free" });
  await clock.runUntil(5 * MINUTE_MS);
  assert.ok(second.rounds.length > 0);
  assert.deepEqual({ writes: writes(), limits: PODS.map(limitOf) }, before);
  await second.stop();
});

pure("runNodeLoop() follows a node that shrank: limits sum to less than it has left", async () => {
  const { clock, nodes, demand, limitOf, startAgent } = stage();
  for (const pod of PODS) demand.set(pod, 1000);
  const { rounds, stop } = startAgent();
  await clock.runUntil(2 * MINUTE_MS);
  nodes.modify("node-1", (node) => ({ ...node, allocatableCPU: 1000 }));
  // A quarter of a minute until the node is looked at, 30 s until limits follow.
  await clock.runUntil(4 * MINUTE_MS);
  const last = rounds.at(-1);
  assert.equal(last?.capacity, 900);
  assert.equal(last?.mode, "congested");
  const sum = PODS.reduce((total, pod) => total + limitOf(pod), 0);
  assert.ok(sum <= 900, `the limits sum to ${sum}`);
  await stop();
});

pure(
  "runNodeLoop() shares out a tenth less for each pressure on its node, within 15 s",
  async () => {
    const { clock, nodes, startAgent } = stage();
    const { rounds, stop } = startAgent();
    await clock.runUntil(MINUTE_MS);
    const capacities = [rounds.at(-1)?.capacity];
    for (const pressures of [["MemoryPressure"], ["MemoryPressure", "PIDPressure"], []] as const) {
      nodes.modify("node-1", (node) => ({ ...node, pressures }));
      await clock.runUntil(clock.monotonic() + 17_000);
      capacities.push(rounds.at(-1)?.capacity);
    }
    assert.deepEqual(capacities.map((capacity = 0) => Math.round(capacity)), [
      3600,
      3240,
      2916,
      3600,
    ]);
    await stop();
  },
);

pure(
  "runNodeLoop() takes its own write for no other client's where the watch is slow",
  async () => {
    const { clock, writes, startAgent } = stage({ lagMs: 40_000 });
    const { warnings, stop } = startAgent();
    await clock.runUntil(38_000);
    // Of what it wrote in the first seconds nothing has come back yet.
    assert.ok(writes() >= PODS.length && writes() <= 3 * PODS.length, `${writes()} writes`);
    const before = writes();
    await clock.runUntil(8 * MINUTE_MS);
    assert.deepEqual(warnings, []);
    assert.ok(writes() <= before + 4, `${writes() - before} writes since`);
    await stop();
  },
);

pure(
  "runNodeLoop() repeats its write where another client has overwritten it, and later each time",
  async () => {
    const { clock, allocations, writes, startAgent } = stage();
    const { warnings, stop } = startAgent();
    await clock.runUntil(3 * MINUTE_MS);
    const before = writes();
    const limit = (): string | undefined =>
      allocations.get("shop/a")?.spec.containers?.[0]?.cpuLimit;
    const ours = limit();
    const spoil = (): void =>
      void allocations.modify("shop/a", (stored) => {
        // Not the total, which is what counts on this stage: nothing else is to change.
        const containers = [{ name: "app", cpuLimit: "1999m" }];
        return { ...stored, spec: { ...stored.spec, containers } };
      });
    spoil();
    await clock.runUntil(3 * MINUTE_MS + 2000);
    assert.deepEqual([limit(), writes()], [ours, before + 1]);
    assertMatches(warnings, [/ again /]);
    // One that does not give in.
    for (let since = 0; since < 30; since++) {
      await clock.runUntil((4 + since) * MINUTE_MS);
      spoil();
    }
    const repeats = writes() - before;
    assert.ok(repeats >= 7 && repeats <= 12, `${repeats} repeats in half an hour`);
    assert.equal(warnings.length, repeats);
    await stop();
  },
);

pure(
  "runNodeLoop() keeps what it wrote, not an older copy of it, for a container that restarted",
  async () => {
    const { clock, allocations, demand, limitOf, startAgent } = stage({ lagMs: 40_000 });
    const { rounds, stop } = startAgent();
    await clock.runUntil(10_000);
    const before = limitOf("a");
    const containers = [sampleBounds("another")];
    const bounds = { revision: 2, reason: "", containers };
    allocations.modify("shop/a", (stored) => ({ ...stored, status: { ...stored.status, bounds } }));
    demand.set("a", 1500);
    await clock.runUntil(12_000);
    let wrote = limitOf("a");
    assert.ok(wrote >= 1500 && wrote > before, `${before}, then ${wrote}`);
    const restarted = () =>
      rounds.at(-1)?.containers.find(({ participant }) =>
        participant.containerID === containers[0]?.containerID
          .replace("containerd://", "")
      );
    while (restarted() === undefined && clock.monotonic() < 5 * MINUTE_MS) {
      wrote = limitOf("a");
      await clock.runUntil(clock.monotonic() + 1000);
    }
    // The copy with the new container was made before that was written.
    assert.deepEqual([restarted()?.participant.desired, restarted()?.limit], [before, wrote]);
    await stop();
  },
);

pure(
  "runNodeLoop() believes no node that has no CPU at all, and waits for one that never had",
  async () => {
    const { clock, nodes, limitOf, startAgent, writes } = stage();
    nodes.modify("node-1", (node) => ({ ...node, allocatableCPU: 0 }));
    const { rounds, stop } = startAgent();
    await clock.runUntil(MINUTE_MS);
    assert.deepEqual([rounds.length, writes()], [0, 0]);
    nodes.modify("node-1", (node) => ({ ...node, allocatableCPU: 4000 }));
    await clock.runUntil(4 * MINUTE_MS);
    assert.equal(rounds.at(-1)?.capacity, 3600);
    const limits = PODS.map(limitOf);
    nodes.modify("node-1", (node) => ({ ...node, allocatableCPU: 0 }));
    await clock.runUntil(6 * MINUTE_MS);
    assert.equal(rounds.at(-1)?.capacity, 3600);
    assert.deepEqual(PODS.map(limitOf), limits);
    await stop();
  },
);
