import assert from "node:assert/strict";
import { LOOP_DEFAULTS } from "../loop.ts";
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import { type LogFields, silentLog } from "../../shared/log.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import {
  newNodeState,
  nextNodeState,
  type NodeStateMemory,
} from "../../shared/scarcity/node_state.ts";
import {
  boundedAllocation,
  SAMPLE_PACE,
  sampleBounds,
  sampleReading,
} from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { RoundContext } from "./algorithm.ts";
import type { ContainerStates } from "./container_state.ts";
import { availableCPU, nodeLoad } from "./free.ts";
import { createParticipantIndex, type Participants, participantsOf } from "./participants.ts";
import { clearAndPace, estimate, type RoundResult } from "./round.ts";

/** Differences between a pod and one with an original limit of 500 m. */
interface PodChange extends Partial<ContainerBounds> {
  readonly original?: string;
  readonly written?: string;
}

/** A pod's readings; `limit` is the limit as last decided, which is its quota by default. */
type Reading = Partial<Omit<ContainerSample, "at" | "quota">> & {
  readonly quota?: number | undefined;
};
type Readings = Readonly<Record<string, Reading | ((limit: number) => Reading)>>;

/** The agent of a node of 2000 m, a round every 250 ms. */
function freeAgent(changes: Readonly<Record<string, PodChange>>, capacity = 2000) {
  const states: ContainerStates = new Map();
  let now = 0;
  let nodeState: NodeStateMemory = newNodeState(0);
  const pods = Object.entries(changes).map(([name, { original = "500m", written, ...bounds }]) =>
    boundedAllocation(name, {
      spec: written === undefined ? {} : { containers: [{ name: "app", cpuLimit: written }] },
      status: {
        bounds: { revision: 1, reason: "", containers: [sampleBounds(name, bounds)] },
        originalLimits: [{ name: "app", cpu: original }],
      },
    })
  );
  const participants = pods.flatMap(participantsOf);
  const limits = new Map(
    participants.map(({ allocation, desired = 500 }) => [allocation.metadata.name, desired]),
  );
  const round = (readings: Readings): RoundResult => {
    now += 250;
    const samples = Object.entries(readings).map(([name, reading]) => {
      const limit = limits.get(name) ?? 500;
      const fields = typeof reading === "function" ? reading(limit) : reading;
      const { quota, ...rest } = { quota: limit, ...fields };
      const { quota: _usual, ...sample } = sampleReading(name, { at: now, ...rest });
      return quota === undefined ? sample : { ...sample, quota };
    });
    const sample = { containers: new Map(samples.map((one) => [one.containerID, one])) };
    const context: RoundContext = {
      ...{ ...LOOP_DEFAULTS, now, capacity, isFull: false, nodeState, freeFraction: 0 },
      ...{ waitMs: 100, pace: SAMPLE_PACE },
    };
    const { containers } = estimate(participants, { sample, states, context });
    const load = nodeLoad(containers, now);
    nodeState = nextNodeState(nodeState, { now, capacity, ...load });
    const current = { ...context, nodeState, isFull: load.usage400ms >= capacity };
    const result = clearAndPace(containers, current);
    for (const { participant, limit, need, share, target, state } of result.containers) {
      limits.set(participant.allocation.metadata.name, limit);
      for (const figure of [limit, need, share, target, state.credit]) {
        assert.ok(figure >= 0 && figure < Infinity, `${figure}`);
      }
    }
    return result;
  };
  return {
    ...{ limits, round },
    state: () => nodeState.state,
    since: () => nodeState.since,
    /** Plays seconds; the reasons of the changes, in order. */
    play(seconds: number, readings: Readings): string[] {
      const results = Array.from({ length: 4 * seconds }, () => round(readings).containers).flat();
      return results.flatMap(({ participant, limit, changedFor }) =>
        changedFor === undefined
          ? []
          : `${participant.allocation.metadata.name} ${limit} ${changedFor}`
      );
    },
  };
}

const IDLE: Readings = { batch: { usage: 10 }, service: { usage: 10 } };
/** A batch job and a service that waits for it. */
const CONTENDED: Readings = {
  batch: (limit) => ({ usage: Math.min(limit, 1900), pressure: 0.5 }),
  service: { usage: 300, pressure: 1 },
};
const SERVICE = { original: "1500m" };

pure("FREE brings limits to their ceilings once there are readings, then rests", () => {
  const agent = freeAgent({ a: {}, b: { ceiling: 905 } });
  assert.deepEqual(agent.play(1, {}), []);
  const idle = { a: { usage: 10 }, b: { usage: 10 } };
  assert.deepEqual(agent.play(1, idle), ["a 2000 CPUFree", "b 900 CPUFree"]);
  assert.deepEqual(agent.play(20, idle), []);
  const { price, mode, nodeState, freeFraction, containers } = agent.round(idle);
  assert.deepEqual([price, mode, nodeState.state, freeFraction], [0, "uncongested", "ample", 1]);
  assert.deepEqual(containers.map(({ target }) => target), [2000, 900]);
});

pure("FREE releases ten limits a second", () => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  const agent = freeAgent(Object.fromEntries(names.map((name) => [name, {}])));
  const idle = Object.fromEntries(names.map((name) => [name, { usage: 10 }]));
  const released = Array.from({ length: 6 }, () => agent.play(0.25, idle).length);
  assert.deepEqual(released, [10, 0, 0, 0, 2, 0]);
});

pure("FREE takes CPU from what stands above its original limit, and gives it back", () => {
  const agent = freeAgent({ batch: {}, service: SERVICE });
  agent.play(2, IDLE);
  assert.match(agent.play(12, CONTENDED)[0] ?? "", /^batch \d+ NodeCongested$/);
  assert.deepEqual([agent.state(), agent.limits.get("service")], ["scarce", 2000]);
  // Original limits leave 160 of 1.08 × 2000: half of it to each.
  assert.equal(agent.limits.get("batch"), 580);
  const { committed, containers } = agent.round(CONTENDED);
  assert.equal(committed, 580 + 2000);
  const figures = containers.map(({ need, share, target }) => [need, share, target]);
  assert.deepEqual(figures, [[2000, 1530, 1530], [630, 630, 2000]]);
  assert.deepEqual(agent.play(25, IDLE).at(-1), "batch 2000 CPUFree");
  assert.equal(agent.state(), "ample");
});

pure("FREE lowers what takes more than its share on a kernel without PSI", () => {
  const agent = freeAgent({ batch: {}, service: SERVICE });
  agent.play(2, IDLE);
  // Its weight gives the service 300 m of what is divided; its part is half of that.
  const [first] = agent.play(12, {
    batch: (limit) => ({ usage: Math.min(limit, 1900), request: 600 }),
    service: { usage: 300, request: 100 },
  });
  assert.equal(agent.state(), "scarce");
  assert.match(first ?? "", /^batch \d+ NodeCongested$/);
});

pure("FREE lowers no container while none waits", () => {
  const agent = freeAgent({ batch: {}, service: SERVICE });
  agent.play(2, IDLE);
  const served = { batch: { usage: 1900, pressure: 1 }, service: { usage: 200, pressure: 0.1 } };
  assert.deepEqual([agent.play(12, served), agent.state()], [[], "scarce"]);
});

pure("FREE brings to its ceiling what gets what it wants while CPU is scarce", () => {
  const joined = freeAgent({ batch: {}, service: {}, new: {} });
  const busy = { batch: { usage: 1500, pressure: 0.2 }, service: { usage: 600, pressure: 0.1 } };
  joined.play(2, IDLE);
  joined.play(5, busy);
  assert.equal(joined.state(), "scarce");
  const all = { ...busy, new: { usage: 20, pressure: 0 } };
  assert.deepEqual(joined.play(1, all), ["new 2000 CPUFree"]);
  // An agent has started again; for this moment the batch job wants little.
  const service = { ...SERVICE, written: "2000m" };
  const restarted = freeAgent({ batch: { written: "1200m" }, service });
  const served = { batch: { usage: 300, pressure: 0.1 }, service: { usage: 1700, pressure: 0.1 } };
  assert.deepEqual(restarted.play(1, served), ["batch 2000 CPUFree"]);
  assert.equal(restarted.state(), "scarce");
});

pure("FREE divides nothing among containers that have ended", () => {
  const agent = freeAgent({ gone: {}, batch: {} });
  agent.play(2, { gone: { usage: 1500 }, batch: { usage: 900 } });
  assert.equal(agent.state(), "scarce");
  agent.play(27, { batch: { usage: 900 } });
  assert.equal(agent.state(), "ample");
});

pure("FREE keeps limits as they are when an agent starts again while CPU is scarce", () => {
  // Both limits are as the agent before had written them.
  const service = { ...SERVICE, written: "2000m" };
  const agent = freeAgent({ batch: { written: "1100m" }, service });
  assert.deepEqual(agent.play(0.5, {}), []);
  const changes = agent.play(20, {
    batch: (limit) => ({ usage: limit, throttledMsPerS: 900, throttledPeriods: 2, pressure: 0.9 }),
    service: { usage: 900, pressure: 0.1 },
  });
  assert.deepEqual([agent.state(), agent.since()], ["scarce", 750]);
  // The batch job gets the rest of 1.08 × 2000 beside the service, no more, and nothing is released.
  assert.deepEqual(changes, ["batch 1210 DemandRose"]);
});

pure("FREE answers each of many bursts with three changes at most", () => {
  // By kernel weights a burst of the service gets a sixth of the node beside the batch job.
  const LEAST = 330;
  const agent = freeAgent({ batch: {}, service: { ...SERVICE, weight: 300, multiplier: 3 } }, 1800);
  agent.play(2, IDLE);
  const batch = (taken: number) => (limit: number) => ({ usage: Math.min(limit, 2000 - taken) });
  agent.play(10, { batch: batch(10), service: { usage: 10, pressure: 0 } });
  for (let i = 0; i < 20; i++) {
    const within = Array.from({ length: 20 }, () => {
      const usage = Math.min(1400, Math.max(LEAST, 2000 - (agent.limits.get("batch") ?? 0)));
      const service = { usage, pressure: usage < 1400 ? 1 : 0 };
      return agent.play(0.25, { batch: batch(usage), service });
    }).flat();
    // Once it is served the service bids a little less than its part.
    assert.match(within.join(), /^batch \d+ NodeCongested(,batch \d+ DemandRose)?$/);
    const after = agent.play(5, { batch: batch(10), service: { usage: 10, pressure: 0 } });
    assert.match(after.join(), /^batch \d+ DemandRose(,batch \d+ DemandRose)?$/);
    assert.ok(within.length + after.length <= 3);
  }
});

pure("FREE leaves limits that are held", () => {
  const batchOf = (held: "both" | "lower" | "half"): readonly number[] =>
    freeAgent({ batch: { held, written: "1905m" }, service: SERVICE }).play(20, CONTENDED)
      .filter((change) => change.startsWith("batch")).map((change) => Number(change.split(" ")[1]));
  assert.deepEqual(batchOf("both"), []);
  // On the grid, and no lower.
  assert.deepEqual(batchOf("lower"), [1910]);
  // At most half of what lies above the floor at a time.
  const halves = batchOf("half");
  for (const [index, after] of halves.entries()) {
    const before = halves[index - 1] ?? 1905;
    assert.ok(after >= (before + 100) / 2, `${after} after ${before}`);
  }
  assert.ok((halves.at(-1) ?? Infinity) < 1905);
});

pure("FREE brings a limit without a quota back to the original one", () => {
  const agent = freeAgent({ a: { written: "2000m" } });
  const off = (seconds: number) => agent.play(seconds, { a: { quota: undefined } });
  assert.deepEqual(off(39), []);
  assert.deepEqual(off(3), ["a 500 QuotaOff"]);
  assert.deepEqual(agent.play(1, { a: {} }), ["a 2000 CPUFree"]);
});

pure("FREE holds the limit of a Guaranteed pod at its need while CPU is scarce", () => {
  const agent = freeAgent({ g: { floor: 100, requestMoves: true }, batch: {} }, 1800);
  const batch = (limit: number) => ({ usage: Math.min(limit, 1500), pressure: 0.9 });
  agent.play(120, { g: { usage: 450, pressure: 0.1 }, batch });
  assert.equal(agent.state(), "scarce");
  const limit = agent.limits.get("g") ?? 0;
  assert.ok(limit >= 450 && limit <= 530, `${limit}`);
  assert.deepEqual(agent.play(120, { g: { usage: 450, pressure: 0.1 }, batch }), []);
});

pure("FREE survives a node with hardly any capacity, or without pods", () => {
  const agent = freeAgent({ batch: {}, service: {} }, 1);
  agent.play(20, CONTENDED);
  const { price } = agent.round(CONTENDED);
  assert.ok(price > 0 && price < Infinity && agent.state() === "scarce", `${price}`);
  for (const limit of agent.limits.values()) assert.ok(limit >= 100);
  const empty = freeAgent({}, 0);
  assert.deepEqual([empty.play(2, {}), empty.state()], [[], "ample"]);
});

pure("availableCPU() is what is idle, what containers use, and what others leave", () => {
  const rows = [
    [{ shared: 2000, idle: 700, idle400ms: 500, unmanagedUsage: 600 }, [1500, 1600, 1400]],
    // At the end of a burst usage is a moment behind.
    [{ shared: 2000, idle: 1500, idle400ms: 1900, unmanagedUsage: 2100 }, [2000, 2000, 0]],
    [undefined, [1000, 900, 900]],
  ] as const;
  for (const [node, [last400ms, last1s, lasting]] of rows) {
    const available = availableCPU({ usage: 900, usage400ms: 1000 }, node);
    assert.partialDeepStrictEqual(available, { last400ms, last1s, lasting });
  }
});

pure("nodeLoad() counts throttled time below a ceiling, and no container that has ended", () => {
  const agent = freeAgent({ a: { ceiling: 2005 }, b: {} });
  const busy = { usage: 400, throttledMsPerS: 150 };
  agent.round({ a: busy, b: busy });
  const { containers } = agent.round({ a: busy, b: busy });
  assert.deepEqual([...agent.limits.values()], [2000, 2000]);
  assert.deepEqual(nodeLoad(containers, 500), { usage: 800, usage400ms: 800, wanted: 800 });
  const { state } = containers[0] ?? assert.fail("there is a container");
  state.load = { usage1500ms: 400, usage1s: 400, usage400ms: 300 };
  const load = { usage: 800, usage400ms: 700 };
  state.pace = { ...state.pace, limit: 1990 };
  for (const now of [500, 15_500]) {
    assert.deepEqual(nodeLoad(containers, now), { ...load, wanted: 950 });
  }
  assert.deepEqual(nodeLoad(containers, 15_501), { usage: 0, usage400ms: 0, wanted: 0 });
});

const MARKET = {
  ...{ mode: "congested", demand: 1, need: 1, reason: "Throttled", credit: 1.5 } as const,
  observedBounds: 1,
};
const HUGE = "99999999999999k";

function pods({ list }: Participants): string[] {
  return list.map(({ allocation }) => allocation.spec.podName);
}

function boundedBy(pod: string, ...containers: readonly ContainerBounds[]): PodAllocation {
  const bounds = { revision: 1, reason: "", containers: [...containers] };
  return boundedAllocation(pod, { status: { bounds } });
}

function warning() {
  const lines: LogFields[] = [];
  const warn = (_message: string, fields: LogFields = {}) => void lines.push(fields);
  return { lines, index: createParticipantIndex({ ...silentLog, warn }) };
}

pure("participantsOf() takes id, bounds, original limit, and what was written last", () => {
  const containers = [{ name: "app", cpuLimit: "1" }];
  const allocation = boundedAllocation("a1", { spec: { containers, market: MARKET } });
  assert.deepEqual(participantsOf(allocation), [{
    ...{ allocation, key: "shop/a1", containerID: "6131", bounds: sampleBounds("a1") },
    ...{ originalLimit: 500, desired: 1000, credit: 1.5 },
  }]);
  const { status: _status, ...bare } = allocation;
  for (const unbounded of [bare, { ...bare, status: {} }]) {
    assert.deepEqual(participantsOf(unbounded), []);
  }
});

pure("participantsOf() counts no limit beyond any node, and bounds the credit", () => {
  const { status } = boundedAllocation("web");
  for (const [credit, bounded] of [[0, 0.5], [1e9, 2]] as const) {
    const containers = [{ name: "app", cpuLimit: HUGE }];
    const [found] = participantsOf(boundedAllocation("web", {
      spec: { containers, market: { ...MARKET, credit } },
      status: { ...status, originalLimits: [{ name: "app", cpu: HUGE }] },
    }));
    const { desired, originalLimit } = found ?? {};
    assert.deepEqual([desired, originalLimit, found?.credit], [undefined, 100, bounded]);
  }
});

pure("createParticipantIndex() follows allocations, in order of their keys", () => {
  const index = createParticipantIndex(silentLog);
  const [a, b, c] = ["a", "b", "c"].map((pod) => boundedAllocation(pod));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const newB = { ...b };
  const states = [[b, a], [c, a, b], [a, newB, c], [a, newB, c], [newB, c], [newB], []];
  const found = states.map((state) => index(state.values()));
  for (const [index, { list }] of found.entries()) {
    const sorted = states[index]?.toSorted((x, y) => x.metadata.name < y.metadata.name ? -1 : 1);
    assert.deepEqual(list.map(({ allocation }) => allocation), sorted);
  }
  assert.equal(found[2], found[3], "nothing changed");
});

pure("createParticipantIndex() leaves out a pod with a bad bid, and warns of it once", () => {
  const { lines, index } = warning();
  const side = sampleBounds("other", { name: "side" });
  const allocation = boundedBy("bad", side, sampleBounds("bad", { weight: 1e10 }));
  for (let round = 0; round < 3; round++) {
    const found = index([allocation, boundedAllocation("good")]);
    assert.deepEqual([pods(found), [...found.uids]], [["good"], ["uid-bad", "uid-good"]]);
  }
  assert.deepEqual(lines.map(({ key }) => key), ["shop/bad"]);
});

pure("createParticipantIndex() gives a container to one allocation, however many name it", () => {
  const { lines, index } = warning();
  const thief = boundedBy("b", sampleBounds("a"));
  const double = boundedBy("c", sampleBounds("c"), sampleBounds("c"));
  const all = [double, thief, boundedAllocation("a")];
  for (const state of [all, [...all]]) assert.deepEqual(pods(index(state)), ["a"]);
  assert.deepEqual(lines.map(({ key }) => key).sort(), ["shop/b", "shop/c"]);
});
