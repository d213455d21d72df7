import { pure } from "../../tests/fixtures/pure.ts";
import { WAIT_TARGET_MS } from "../../shared/demand/common_wait.ts";
import { type DemandRule, queueingNeed } from "../../shared/demand/demand_rule.ts";
import { GRID } from "../../shared/quantity.ts";
import { onlyContainer, playedAgent } from "../../tests/fixtures/market/played_agent.ts";
import { boundedAllocation, sampleBounds, sampleReading } from "../../tests/fixtures/market/sample_participants.ts";
import type { RoundResult } from "./round.ts";
import assert from "node:assert/strict";

pure("clear() keeps the present limit while a container has no readings", () => {
  const { play } = playedAgent();
  const result = onlyContainer(play([boundedAllocation("a")], () => []));
  assert.deepEqual([result.limit, result.share, result.changedFor], [500, 500, undefined]);
});

pure(
  "pace() begins with the written limit, else the quota in force, else the original limit",
  () => {
    const containers = [{ name: "app", cpuLimit: "800m" }];
    const written = boundedAllocation("a", { spec: { containers } });
    const reading = (at: number) => [sampleReading("a", { at, quota: 700 })];
    assert.equal(onlyContainer(playedAgent().play([written], reading)).limit, 800);
    assert.equal(onlyContainer(playedAgent().play([boundedAllocation("a")], reading)).limit, 700);
  },
);

pure("pace() raises a container that needs more at once, by a margin beyond that", () => {
  const { play } = playedAgent();
  const busy = (at: number) => [sampleReading("a", { at, usage: 1200, throttledMsPerS: 300 })];
  const result = onlyContainer(play([boundedAllocation("a")], busy));
  // 1200 × 1.05; the share itself has no margin.
  assert.deepEqual([result.limit, result.share, result.changedFor], [1260, 1200, "Throttled"]);
});

pure(
  "pace() raises a Guaranteed container for its need, and lowers it again to its floor",
  () => {
    const { play } = playedAgent({ capacity: 10_000 });
    const status = {
      bounds: {
        revision: 1,
        reason: "",
        containers: [sampleBounds("a", { floor: 500, weight: 500, requestMoves: true })],
      },
      originalLimits: [{ name: "app", cpu: "500m" }],
      originalRequests: [{ name: "app", cpu: "500m" }],
    };
    let limit = 500;
    const after = (rounds: number, usage: number): number => {
      for (let i = 0; i < rounds; i++) {
        const reading = (at: number) => [sampleReading("a", { at, usage, quota: limit })];
        limit = onlyContainer(play([boundedAllocation("a", { status })], reading)).limit;
      }
      return limit;
    };
    const [idle, busy, later] = [after(240, 300), after(120, 1200), after(360, 300)];
    assert.deepEqual([idle, later], [500, 500]);
    assert.ok(busy >= 1200 && busy < 1300, `${busy}`);
  },
);

pure(
  "pace() starts a container's state anew when it was restarted, at the limit of before",
  () => {
    const { states, play } = playedAgent();
    const busy = (at: number) => [sampleReading("a", { at, usage: 1200 })];
    play([boundedAllocation("a")], busy);
    const bounds = { revision: 2, reason: "", containers: [sampleBounds("new")] };
    const containers = [{ name: "app", cpuLimit: "1200m" }];
    const restarted = boundedAllocation("a", { spec: { containers }, status: { bounds } });
    const result = onlyContainer(play([restarted], () => []));
    assert.deepEqual([result.limit, result.changedFor], [1200, undefined]);
    assert.deepEqual([...states.keys()], [result.participant.containerID]);
    assert.equal(result.state.demand, undefined);
  },
);

pure("pace() earns credit for what is left to others, once for each sample", () => {
  const { play } = playedAgent();
  const allocation = boundedAllocation("a");
  const idle = onlyContainer(play([allocation], (at) => [sampleReading("a", { at, usage: 0 })]));
  const { credit } = idle.state;
  assert.ok(credit > 1);
  const old = sampleReading("a", { at: 250, usage: 0 });
  assert.equal(onlyContainer(play([allocation], () => [old])).state.credit, credit);
});

pure("pace() earns as much credit where samples are never as new as the round", () => {
  const creditAfter = (lagMs: number): number => {
    const { play } = playedAgent();
    const allocation = boundedAllocation("a");
    const idle = (at: number) => [sampleReading("a", { at: at - lagMs, usage: 0 })];
    for (let round = 0; round < 99; round++) play([allocation], idle);
    return onlyContainer(play([allocation], idle)).state.credit;
  };
  assert.ok(creditAfter(0) > 1.01);
  assert.equal(creditAfter(100), creditAfter(0));
});

pure("clear() reports which share of capacity was free of any commitment", () => {
  // 97 % may be granted and 500 m are held.
  const ample = playedAgent({ capacity: 10_000 }).play([boundedAllocation("a")], () => []);
  assert.ok(Math.abs(ample.freeShare - 0.92) < 1e-9);
  assert.ok(Math.abs(ample.committed - 500) < 1e-9);
  const full = playedAgent({ capacity: 400 }).play([boundedAllocation("a")], () => []);
  assert.ok(Math.abs(full.freeShare - (0.97 - 500 / 400)) < 1e-9);
});

pure("estimate() reports an estimate how scarce CPU is: not at all while a tenth is free", () => {
  const scarcities: number[] = [];
  const rule: DemandRule = ({ scarcity }) => {
    scarcities.push(scarcity);
    return { mean: 0, burstinessMs: 0, trial: 500, saturatedMs: 0 };
  };
  for (const capacity of [10_000, 560]) {
    const { play } = playedAgent({ capacity, rule });
    const reading = (at: number) => [sampleReading("a", { at })];
    play([boundedAllocation("a")], reading);
    play([boundedAllocation("a")], reading);
  }
  const [first, ample, , tight] = scarcities;
  assert.deepEqual([first, ample], [1, 0], "before the first round nothing is known to be free");
  // Of 560 m 543.2 may be granted and 500 are held: 0.0771 of capacity.
  assert.ok(Math.abs((tight ?? 0) - (1 - 43.2 / 56)) < 1e-9);
});

/** Uneven work. */
const uneven: DemandRule = ({ usage }) => ({
  mean: usage,
  burstinessMs: 50,
  trial: 0,
  saturatedMs: 0,
});
/** What it needs where it may wait twice as long as it should. */
const NEED_AT_TWICE = queueingNeed({ mean: 300, burstinessMs: 50 }, 2 * WAIT_TARGET_MS);

function waitsTwice({ waitMs }: RoundResult): void {
  // The bisection is exact within a hundredth.
  assert.ok(waitMs >= 2 * WAIT_TARGET_MS && waitMs <= 2.02 * WAIT_TARGET_MS, `waits ${waitMs} ms`);
}

pure("clear() lets work wait longer where needs would take over four fifths of the CPU", () => {
  const reading = (at: number) => [sampleReading("a", { at, usage: 300 })];
  const ample = playedAgent({ rule: uneven }).play([boundedAllocation("a")], reading);
  assert.equal(ample.waitMs, WAIT_TARGET_MS);
  assert.ok(onlyContainer(ample).need > NEED_AT_TWICE);
  const capacity = NEED_AT_TWICE / 0.8;
  const short = playedAgent({ rule: uneven, capacity }).play([boundedAllocation("a")], reading);
  waitsTwice(short);
  // Bids are on the grid.
  const onGrid = Math.ceil(NEED_AT_TWICE / GRID) * GRID;
  assert.ok(
    onlyContainer(short).need <= onGrid && onlyContainer(short).need > NEED_AT_TWICE * 0.99,
  );
});

pure("clear() takes what containers without readings hold off the room for needs", () => {
  const reading = (at: number) => [sampleReading("a", { at, usage: 300 })];
  // Together with the 500 m of the other this is as short as in the test before.
  const capacity = (NEED_AT_TWICE + 500) / 0.8;
  const both = [boundedAllocation("a"), boundedAllocation("b")];
  waitsTwice(playedAgent({ rule: uneven, capacity }).play(both, reading));
});

pure("clear() clears an empty node", () => {
  const round = playedAgent().play([], () => []);
  assert.deepEqual([round.mode, round.price, round.containers], ["uncongested", 0, []]);
  assert.deepEqual([round.freeShare, round.waitMs], [0.97, WAIT_TARGET_MS]);
});
