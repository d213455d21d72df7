import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import { createDemandRule } from "../../shared/demand/demand_rule.ts";
import {
  newNodeState,
  nextNodeState,
  type NodeStateMemory,
} from "../../shared/scarcity/node_state.ts";
import { SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleReading,
} from "../../tests/fixtures/market/sample_participants.ts";
import { participantsOf } from "./participants.ts";
import type { RoundContext } from "./algorithm.ts";
import type { ContainerStates } from "./container_state.ts";
import { nodeLoad } from "./free.ts";
import { clear, estimate, pace, type RoundResult } from "./round.ts";

/** A pod with an original limit of 500 m, unless another is given. */
function pod(
  name: string,
  bounds: Partial<ContainerBounds> = {},
  { original = "500m", written }: { readonly original?: string; readonly written?: string } = {},
): PodAllocation {
  return boundedAllocation(name, {
    spec: written === undefined ? {} : { containers: [{ name: "app", cpuLimit: written }] },
    status: {
      bounds: { revision: 1, reason: "", containers: [sampleBounds(name, bounds)] },
      originalLimits: [{ name: "app", cpu: original }],
    },
  });
}

type Reading = Partial<Omit<ContainerSample, "at" | "quota">> & {
  readonly quota?: number | undefined;
};
/** What pods do, by name; `limit` is the limit as last decided. */
type Readings = Readonly<Record<string, Reading | ((limit: number) => Reading)>>;

/** The agent of a node, a round every 250 ms. */
function freeAgent({ capacity = 2000, pods }: {
  readonly capacity?: number;
  readonly pods: readonly PodAllocation[];
}) {
  const states: ContainerStates = new Map();
  let now = 0;
  let nodeState = newNodeState(0);
  const participants = pods.flatMap(participantsOf);
  const limits = new Map(
    participants.map(({ allocation, desired = 500 }) => [allocation.metadata.name, desired]),
  );
  const round = (readings: Readings): RoundResult => {
    now += 250;
    const samples = Object.entries(readings).map(([name, reading]) => {
      const limit = limits.get(name) ?? 500;
      const fields = typeof reading === "function" ? reading(limit) : reading;
      const { quota = limit, ...rest } = fields;
      const { quota: _quota, ...without } = sampleReading(name, { at: now, ...rest });
      return "quota" in fields && fields.quota === undefined ? without : { ...without, quota };
    });
    const sample = { containers: new Map(samples.map((one) => [one.containerID, one])) };
    const context: RoundContext = {
      ...{ now, capacity, nodeState, needUpTo: 0.85, waitTargetMs: 100 },
      ...{ freeFraction: 0, waitMs: 100, pace: SAMPLE_PACE, newDemandRule: createDemandRule },
      idleCPU: "free",
    };
    const { containers } = estimate(participants, { sample, states, context });
    nodeState = nextNodeState(nodeState, { now, capacity, ...nodeLoad(containers, now) });
    const current = { ...context, nodeState };
    const result = pace(clear(containers, current), { containers, context: current });
    for (const { participant, limit } of result.containers) {
      limits.set(participant.allocation.metadata.name, limit);
    }
    for (const { limit, need, share, target, state } of result.containers) {
      for (const figure of [limit, need, share, target, state.credit]) {
        assert.ok(figure >= 0 && figure < Infinity, `${figure}`);
      }
    }
    return result;
  };
  return {
    states,
    limits,
    state: (): NodeStateMemory => nodeState,
    round,
    /** Plays seconds; the reasons of the changes, in order. */
    play(seconds: number, readings: Readings): string[] {
      const changes: string[] = [];
      for (let i = 0; i < 4 * seconds; i++) {
        for (const { participant, limit, changedFor } of round(readings).containers) {
          if (changedFor === undefined) continue;
          changes.push(`${participant.allocation.metadata.name} ${limit} ${changedFor}`);
        }
      }
      return changes;
    },
  };
}

/** A batch job and a service that waits for it. */
const CONTENDED: Readings = {
  batch: (limit) => ({ usage: Math.min(limit, 1900), pressure: 0.5 }),
  service: { usage: 300, pressure: 1 },
};

pure("FREE brings limits to their ceilings once there are readings, then rests", () => {
  const agent = freeAgent({ pods: [pod("a"), pod("b", { ceiling: 905 })] });
  assert.deepEqual(agent.play(1, {}), []);
  const idle = { a: { usage: 10 }, b: { usage: 10 } };
  assert.deepEqual(agent.play(1, idle), ["a 2000 CPUFree", "b 900 CPUFree"]);
  assert.deepEqual(agent.play(20, idle), []);
  const { price, mode, nodeState, freeFraction, containers } = agent.round(idle);
  assert.deepEqual([price, mode, nodeState.state, freeFraction], [0, "uncongested", "ample", 1]);
  assert.deepEqual(containers.map(({ target }) => target), [2000, 900]);
});

pure("FREE takes CPU from what stands above its original limit, and gives it back", () => {
  const agent = freeAgent({
    pods: [pod("batch"), pod("service", {}, { original: "1500m" })],
  });
  agent.play(2, { batch: { usage: 10 }, service: { usage: 10 } });
  const changes = agent.play(12, CONTENDED);
  assert.equal(agent.state().state, "scarce");
  assert.match(changes[0] ?? "", /^batch \d+ NodeCongested$/);
  assert.equal(agent.limits.get("service"), 2000);
  // At least its part: half of 1.08 × 2000, shifted a little by credit.
  const lowered = agent.limits.get("batch") ?? 0;
  assert.ok(lowered >= 900 && lowered < 1900, `${lowered}`);
  const after = agent.play(25, { batch: { usage: 10 }, service: { usage: 10 } });
  assert.equal(agent.state().state, "ample");
  assert.deepEqual(after.at(-1), "batch 2000 CPUFree");
});

pure("FREE lowers no container while none waits", () => {
  const agent = freeAgent({ pods: [pod("batch"), pod("service")] });
  agent.play(2, { batch: { usage: 10 }, service: { usage: 10 } });
  const idle = { batch: { usage: 1900, pressure: 1 }, service: { usage: 200, pressure: 0.1 } };
  assert.deepEqual(agent.play(20, idle), []);
  assert.equal(agent.state().state, "scarce");
});

pure("FREE of a kernel without PSI lowers what takes more than its share", () => {
  const agent = freeAgent({ pods: [pod("batch"), pod("service", {}, { original: "1500m" })] });
  agent.play(2, { batch: { usage: 10 }, service: { usage: 10 } });
  // Its weight gives the service 300 m of what is divided; its part is half of that.
  const blind: Readings = {
    batch: (limit) => ({ usage: Math.min(limit, 1900), request: 600 }),
    service: { usage: 300, request: 100 },
  };
  assert.match(agent.play(12, blind)[0] ?? "", /^batch \d+ NodeCongested$/);
});

pure("FREE brings a pod that joins to its ceiling if it gets what it wants", () => {
  const agent = freeAgent({ pods: [pod("batch"), pod("service"), pod("new")] });
  const busy = { batch: { usage: 1500, pressure: 0.2 }, service: { usage: 600, pressure: 0.1 } };
  agent.play(2, { batch: { usage: 10 }, service: { usage: 10 } });
  agent.play(5, busy);
  assert.equal(agent.state().state, "scarce");
  const joined: Readings = { ...busy, new: { usage: 20, pressure: 0 } };
  assert.deepEqual(agent.play(1, joined), ["new 2000 CPUFree"]);
});

pure("FREE keeps limits as they are when an agent starts again while CPU is scarce", () => {
  // Both limits are as the agent before had written them.
  const agent = freeAgent({
    pods: [
      pod("batch", {}, { written: "1100m" }),
      pod("service", {}, { original: "1500m", written: "2000m" }),
    ],
  });
  const readings: Readings = {
    batch: (limit) => ({ usage: limit, throttledMsPerS: 900, throttledPeriods: 2, pressure: 0.9 }),
    service: { usage: 900, pressure: 0.4 },
  };
  assert.deepEqual(agent.play(0.5, {}), []);
  const changes = agent.play(20, readings);
  assert.deepEqual(agent.state(), { state: "scarce", since: 750 });
  // What the service leaves of 1.08 × 2000 goes to the batch job, no more, and nothing is released.
  assert.deepEqual(changes, ["batch 1210 DemandRose"]);
});

pure(
  "FREE releases what gets all it wants when an agent starts again while scarce",
  () => {
    const agent = freeAgent({
      pods: [
        pod("batch", {}, { written: "1200m" }),
        pod("service", {}, { original: "1500m", written: "2000m" }),
      ],
    });
    // For this moment the batch job wants little.
    const readings = {
      batch: { usage: 300, pressure: 0.1 },
      service: { usage: 1700, pressure: 0.1 },
    };
    assert.deepEqual(agent.play(1, readings), ["batch 2000 CPUFree"]);
    assert.equal(agent.state().state, "scarce");
  },
);

pure("FREE leaves limits that are held", () => {
  const held = (kind: ContainerBounds["held"]) =>
    freeAgent({
      pods: [
        pod("batch", { held: kind }, { written: "1905m" }),
        pod("service", {}, {
          original: "1500m",
        }),
      ],
    });
  const both = held("both");
  assert.deepEqual(both.play(20, CONTENDED).filter((one) => one.startsWith("batch")), []);
  assert.equal(both.limits.get("batch"), 1905);
  // On the grid, and no lower.
  const lower = held("lower");
  lower.play(20, CONTENDED);
  assert.equal(lower.limits.get("batch"), 1910);
  // At most half of what lies above the floor at a time.
  const half = held("half");
  let before = 1905;
  for (const change of half.play(20, CONTENDED)) {
    if (!change.startsWith("batch")) continue;
    const after = Number(change.split(" ")[1]);
    assert.ok(after >= (before + 100) / 2, `${after} after ${before}`);
    before = after;
  }
  assert.ok(before < 1905);
});

pure("FREE brings a limit without a quota back to the original one", () => {
  const agent = freeAgent({ pods: [pod("a", {}, { written: "2000m" })] });
  const off = (seconds: number) => agent.play(seconds, { a: { quota: undefined } });
  assert.deepEqual(off(39), []);
  assert.deepEqual(off(3), ["a 500 QuotaOff"]);
  assert.deepEqual(agent.play(1, { a: {} }), ["a 2000 CPUFree"]);
});

pure("FREE lets the limits of Guaranteed pods follow their need", () => {
  const agent = freeAgent({ pods: [pod("g", { floor: 500, requestMoves: true })] });
  assert.deepEqual(agent.play(30, { g: { usage: 100 } }), []);
  assert.equal(agent.limits.get("g"), 500);
});

pure("FREE survives a node without capacity, or without pods", () => {
  const agent = freeAgent({ capacity: 0, pods: [pod("batch"), pod("service")] });
  const { price, nodeState } = (agent.play(20, CONTENDED), agent.round(CONTENDED));
  assert.equal(nodeState.state, "scarce");
  assert.equal(price, Infinity);
  for (const limit of agent.limits.values()) assert.ok(limit >= 100);
  const empty = freeAgent({ capacity: 0, pods: [] });
  assert.deepEqual(empty.play(2, {}), []);
  assert.equal(empty.state().state, "ample");
});

pure("nodeLoad() counts throttled time below a ceiling, and no container that has ended", () => {
  const agent = freeAgent({ pods: [pod("a", { ceiling: 2005 }), pod("b")] });
  const busy = { usage: 400, throttledMsPerS: 150 };
  agent.round({ a: busy, b: busy });
  const { containers } = agent.round({ a: busy, b: busy });
  assert.deepEqual([...agent.limits.values()], [2000, 2000]);
  assert.deepEqual(nodeLoad(containers, 500), { usage: 800, wanted: 800 });
  const [{ state } = { state: undefined }] = containers;
  assert.ok(state !== undefined);
  state.pace = { ...state.pace, limit: 1990 };
  assert.deepEqual(nodeLoad(containers, 500), { usage: 800, wanted: 950 });
  assert.deepEqual(nodeLoad(containers, 15_500), { usage: 800, wanted: 950 });
  assert.deepEqual(nodeLoad(containers, 15_501), { usage: 0, wanted: 0 });
});

pure("FREE divides nothing among containers that have ended", () => {
  const agent = freeAgent({ pods: [pod("gone"), pod("batch")] });
  agent.play(2, { gone: { usage: 1500 }, batch: { usage: 900 } });
  assert.equal(agent.state().state, "scarce");
  agent.play(27, { batch: { usage: 900 } });
  assert.equal(agent.state().state, "ample");
});
