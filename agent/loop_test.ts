import fc from "fast-check";
import assert from "node:assert/strict";
import { createSimulatedAPI } from "../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import {
  type ContainerBounds,
  type PodAllocation,
  podAllocationSchema,
} from "../shared/api/pod_allocation.ts";
import type { NodeCPU, NodeSample } from "../shared/cgroup/sample.ts";
import { createInformer } from "../shared/control/informer.ts";
import { type Log, silentLog } from "../shared/log.ts";
import { parseCPUBound } from "../shared/quantity.ts";
import { seededRandom } from "../shared/random.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import { WRITTEN } from "../tests/fixtures/market/bids_arbitrary.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleReading,
} from "../tests/fixtures/market/sample_participants.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { type NodeLoopOptions, runNodeLoop } from "./loop.ts";
import type { RoundResult } from "./market/round.ts";

const MINUTE_MS = 60_000;
const PODS = ["a", "b"] as const;

interface RunningAgent {
  readonly samples: { count: number; lateMs: number };
  readonly rounds: readonly RoundResult[];
  readonly warnings: readonly string[];
  stop(): Promise<void>;
}

/**
 * A server with two pods on a node of four CPUs; limits are in force as soon as they are written. The
 * watch's events come `lagMs` late, and each sleep of the agent takes `overMs` longer.
 */
function stage({ lagMs = 0, overMs = 0 } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const { Node: nodes, PodAllocation: allocations } = api.store.tables;
  nodes.seed(sampleNode("node-1"));
  for (const pod of PODS) allocations.seed(boundedAllocation(pod));
  /** Millicores that each pod would use; `unmanaged` takes no part. */
  const demand = new Map<string, number>(PODS.map((pod) => [pod, 300]));
  const kernel: { ignoresLimits: boolean; node?: NodeCPU } = { ignoresLimits: false };
  const limitOf = (pod: string): number => {
    const usual = pod === "unmanaged" ? "4" : "500m";
    return parseCPUBound(allocations.get(`shop/${pod}`)?.spec.desiredCPULimit ?? usual);
  };
  const sample = (at: number): NodeSample => {
    const containers = demand.entries().map(([pod, wanted]) => {
      const quota = limitOf(pod);
      const throttledMsPerS = Math.max(0, wanted - quota);
      const throttledPeriods = throttledMsPerS > 0 ? 2 : 0;
      const usage = wanted - throttledMsPerS;
      const request = 100;
      return sampleReading(pod, { at, usage, throttledMsPerS, throttledPeriods, quota, request });
    });
    const byID = new Map(containers.map((one) => [one.containerID, one]));
    return { containers: byID, unmanaged: 0, ...(kernel.node && { node: kernel.node }) };
  };

  async function* late<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const event of events) {
      if (lagMs > 0) await clock.sleep(lagMs);
      yield event;
    }
  }

  const startAgent = (options: NodeLoopOptions = {}): RunningAgent => {
    const abort = new AbortController();
    const { signal } = abort;
    const rounds: RoundResult[] = [];
    const warnings: string[] = [];
    const samples = { count: 0, lateMs: 0 };
    const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
    const source = api.listWatch("PodAllocation", { nodeName: "node-1" });
    const informer = createInformer({
      source: { list: source.list, watch: (...from) => late(source.watch(...from)) },
      ...{ clock, random: seededRandom(2), log: silentLog, name: "PodAllocation" },
    });
    const parts = {
      ...{ allocations: informer, sample, log },
      limitsIgnored: () => kernel.ignoresLimits,
      writer: api.desiredWriter("node-1"),
      link: api.nodeLink("node-1"),
      clock: {
        ...clock,
        sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms + overMs, signal),
      },
      // In the middle of what a heartbeat may take.
      random: { next: () => 0.5 },
    };
    const loop = runNodeLoop(parts, signal, {
      ...{ idleCPU: "tight", ...options },
      observe: (round) => void rounds.push(round),
      sampled(_tookMs, lateMs) {
        samples.count++;
        samples.lateMs += lateMs;
      },
    });
    const ended = Promise.all([informer.run(signal), loop]);
    const stop = async (): Promise<void> => {
      abort.abort();
      await clock.runUntil(clock.monotonic() + lagMs + 1000);
      await ended;
    };
    return { samples, rounds, warnings, stop };
  };
  return {
    ...{ clock, api, allocations, nodes, demand, kernel, limitOf, startAgent },
    pass: (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms),
    writes: (): number => api.requests.get("patch PodAllocation") ?? 0,
    renewals: (): number => api.requests.get("patch Lease") ?? 0,
    limits: (): readonly number[] => PODS.map(limitOf),
    setBounds(pod: string, bounds: ContainerBounds) {
      allocations.modify(`shop/${pod}`, (one) => ({
        ...one,
        status: { ...one.status, bounds: { revision: 9, reason: "", containers: [bounds] } },
      }));
    },
    setNode: (change: Partial<ReturnType<typeof sampleNode>>) =>
      void nodes.modify("node-1", (node) => ({ ...node, ...change })),
  };
}

type Stage = ReturnType<typeof stage>;

function loopTest(
  name: string,
  check: (scene: Stage, agent: RunningAgent) => Promise<void>,
  { agent: options, ...choice }:
    & { readonly agent?: NodeLoopOptions }
    & Parameters<typeof stage>[0] = {},
): void {
  pure(`runNodeLoop() ${name}`, async () => {
    const scene = stage(choice);
    const agent = scene.startAgent(options);
    await check(scene, agent);
    await agent.stop();
  });
}

loopTest("samples more often while 80 % of the node's CPU are used", async (scene, { samples }) => {
  await scene.pass(MINUTE_MS);
  for (const [usage, expected] of [[2000, 40], [3000, 100]] as const) {
    scene.demand.set("unmanaged", usage);
    await scene.pass(1000);
    const before = samples.count;
    await scene.pass(10_000);
    assert.equal(samples.count - before, expected);
  }
}, { agent: { idleCPU: "free" } });

for (const [idle400ms, limit] of [[0, 1150], [1000, 4000]] as const) {
  loopTest(`takes containers for waiting by idle CPU of 0.4 s (${idle400ms}m)`, async (scene) => {
    const { kernel, demand, pass, limitOf } = scene;
    kernel.node = { shared: 5000, idle: 0, idle400ms, unmanagedUsage: 0 };
    scene.setBounds("a", sampleBounds("a", { ceiling: 4000 }));
    scene.setBounds("b", sampleBounds("b", { ceiling: 4000, weight: 300, multiplier: 3 }));
    demand.set("a", 3700).set("b", 0);
    await pass(20_000);
    demand.set("a", 2000);
    await pass(3000);
    assert.deepEqual(scene.limits(), [4000, 4000]);
    // By the mean of 1 s the containers would reach the capacity later.
    demand.set("b", 1700);
    await pass(1000);
    assert.equal(limitOf("a"), limit);
  }, { agent: { idleCPU: "free" } });
}

loopTest("reports by how much its samples are late", async ({ pass }, { samples }) => {
  await pass(MINUTE_MS);
  assert.ok(samples.count > 200);
  assert.equal(Math.round(samples.lateMs / samples.count), 30);
}, { overMs: 30 });

loopTest("writes nothing but its lease, once a minute, when nothing changes", async (scene) => {
  await scene.pass(3 * MINUTE_MS);
  const [writes, renewals] = [scene.writes(), scene.renewals()];
  assert.ok(writes >= PODS.length);
  await scene.pass(5 * MINUTE_MS);
  assert.deepEqual([scene.writes(), scene.renewals()], [writes, renewals + 5]);
});

for (const idleCPU of ["tight", "free"] as const) {
  loopTest(`writes nothing while the kernel ignores limits (${idleCPU})`, async (scene, agent) => {
    const { api, demand, kernel, limitOf, pass } = scene;
    kernel.ignoresLimits = true;
    await pass(5000);
    // Demand and bounds that would move limits.
    demand.set("a", 1000);
    scene.setBounds("b", sampleBounds("b", { floor: 700, ceiling: 800 }));
    await pass(2 * MINUTE_MS);
    assert.deepEqual([scene.writes(), agent.warnings.length], [0, 1]);
    assert.deepEqual(agent.rounds.at(-1)?.containers.map(({ limit }) => limit), [500, 500]);
    kernel.ignoresLimits = false;
    await pass(5000);
    assert.ok(limitOf("a") >= 1000 && limitOf("b") >= 700, scene.limits().join());
    // A desired limit that waits for an unreachable server is not sent later.
    api.stop();
    demand.set("a", 2000);
    await pass(5000);
    const limit = limitOf("a");
    kernel.ignoresLimits = true;
    await pass(1000);
    api.start();
    await pass(2 * MINUTE_MS);
    assert.equal(limitOf("a"), limit);
    kernel.ignoresLimits = false;
    await pass(10_000);
    assert.ok(limitOf("a") >= 2000, `${limitOf("a")}`);
  }, { agent: { idleCPU } });
}

loopTest("goes on while the API is down, and writes when it is back", async (scene, agent) => {
  const { api, demand, limitOf, pass } = scene;
  await pass(5000);
  const limit = limitOf("a");
  api.stop();
  demand.set("a", 1500);
  const [rounds, samples] = [agent.rounds.length, agent.samples.count];
  await pass(20_000);
  assert.equal(limitOf("a"), limit);
  // A sample each sampling interval of 250 ms, a round each second.
  assert.ok(agent.samples.count - samples >= 79 && agent.rounds.length - rounds >= 19);
  api.start();
  await pass(32_000);
  assert.ok(limitOf("a") >= 1500, `${limitOf("a")}`);
});

pure("runNodeLoop() begins once the API is there", async () => {
  const { api, startAgent, writes, pass } = stage();
  api.stop();
  const { rounds, stop } = startAgent();
  await pass(20_000);
  assert.equal(rounds.length, 0);
  api.start();
  await pass(40_000);
  assert.ok(rounds.length > 0 && writes() >= PODS.length);
  await stop();
});

pure("runNodeLoop() takes over the limits of an agent before it without a change", async () => {
  const { startAgent, writes, limits, pass } = stage();
  const first = startAgent({ idleCPU: "free" });
  await pass(3 * MINUTE_MS);
  await first.stop();
  const before = [writes(), limits()];
  const second = startAgent({ idleCPU: "free" });
  await pass(2 * MINUTE_MS);
  assert.ok(second.rounds.length > 0);
  assert.deepEqual([writes(), limits()], before);
  await second.stop();
});

loopTest("follows a node that shrank: limits sum to less than is left", async (scene, agent) => {
  for (const pod of PODS) scene.demand.set(pod, 1000);
  await scene.pass(2 * MINUTE_MS);
  scene.setNode({ allocatableCPU: 1000 });
  // A quarter of a minute until the node is read, 30 s until limits follow.
  await scene.pass(2 * MINUTE_MS);
  const { capacity, mode } = agent.rounds.at(-1) ?? {};
  assert.deepEqual([capacity, mode], [900, "congested"]);
  const sum = scene.limits().reduce((total, limit) => total + limit, 0);
  assert.ok(sum <= 900, `the limits sum to ${sum}`);
});

loopTest("shares a tenth less for each pressure on its node, within 15 s", async (scene, agent) => {
  await scene.pass(MINUTE_MS);
  assert.equal(agent.rounds.at(-1)?.capacity, 3600);
  const both = ["MemoryPressure", "PIDPressure"] as const;
  for (const [capacity, count] of [[3240, 1], [2916, 2], [3600, 0]] as const) {
    scene.setNode({ pressures: both.slice(0, count) });
    await scene.pass(17_000);
    assert.equal(Math.round(agent.rounds.at(-1)?.capacity ?? NaN), capacity);
  }
});

loopTest("takes its own write for its own where the watch is slow", async (scene, { warnings }) => {
  await scene.pass(38_000);
  // The watch has not yet returned any write of the first seconds.
  const before = scene.writes();
  assert.ok(before >= PODS.length && before <= 3 * PODS.length, `${before} writes`);
  await scene.pass(442_000);
  assert.deepEqual(warnings, []);
  assert.ok(scene.writes() <= before + 4, `${scene.writes() - before} writes since`);
}, { lagMs: 40_000 });

loopTest("keeps what it wrote, no older copy, for a restarted container", async (scene, agent) => {
  const { clock, demand, limitOf, pass } = scene;
  await pass(10_000);
  const before = limitOf("a");
  const restarted = sampleBounds("another");
  scene.setBounds("a", restarted);
  demand.set("a", 1500);
  await pass(2000);
  let wrote = limitOf("a");
  assert.ok(wrote >= 1500 && wrote > before, `${before}, then ${wrote}`);
  const found = () =>
    agent.rounds.at(-1)?.containers.find(({ participant }) =>
      restarted.containerID.endsWith(participant.containerID)
    );
  while (found() === undefined && clock.monotonic() < 5 * MINUTE_MS) {
    wrote = limitOf("a");
    await pass(1000);
  }
  // The copy with the new container was made before that was written.
  assert.deepEqual([found()?.participant.desired, found()?.limit], [before, wrote]);
}, { lagMs: 40_000 });

loopTest("believes no node without CPU, and waits for one that never had", async (scene, agent) => {
  const capacity = () => agent.rounds.at(-1)?.capacity;
  scene.setNode({ allocatableCPU: 0 });
  await scene.pass(MINUTE_MS);
  assert.deepEqual([agent.rounds.length, scene.writes()], [0, 0]);
  scene.setNode({ allocatableCPU: 4000 });
  await scene.pass(3 * MINUTE_MS);
  assert.equal(capacity(), 3600);
  const before = scene.limits();
  scene.setNode({ allocatableCPU: 0 });
  await scene.pass(2 * MINUTE_MS);
  assert.deepEqual([capacity(), scene.limits()], [3600, before]);
});

/** An allocation that its schema admits and that holds what it should not. */
const GARBAGE: fc.Arbitrary<PodAllocation> = fc.tuple(
  fc.constantFrom("bad", "worse", "0", "z"),
  WRITTEN,
).map(([pod, written]) => boundedAllocation(pod, written))
  .filter((allocation) => podAllocationSchema.safeParse(allocation).success);

pure("runNodeLoop() survives garbage in allocations, and the others go on", async () => {
  const garbage = fc.uniqueArray(GARBAGE, {
    maxLength: 4,
    selector: ({ metadata }) => metadata.name,
  });
  await fc.assert(
    fc.asyncProperty(garbage, async (bad) => {
      const { allocations, demand, startAgent, pass } = stage();
      for (const one of bad) allocations.seed(one);
      demand.set("bad", 500);
      const agent = startAgent();
      await pass(10_000);
      assert.equal(allocations.get("shop/b")?.spec.market?.observedBounds, 1);
      await agent.stop();
    }),
  );
});
