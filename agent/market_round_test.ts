import assert from "node:assert/strict";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import { DEFAULT_PACE } from "../shared/pacing/pace_options.ts";
import type { ContainerBook } from "./container_book.ts";
import { type RoundResult, runRound, type SeatResult } from "./market_round.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleReading,
  sampleSeats,
} from "../tests/fixtures/sample_seat.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A node of one agent; each call of `play` is a round 250 ms later, on usage as estimate. */
function agent({ capacity = 4000 } = {}) {
  const book: ContainerBook = new Map();
  let now = 0;
  let scarcity = 1;
  const play = (
    allocations: readonly PodAllocation[],
    reading: (at: number) => readonly ContainerSample[],
  ): RoundResult => {
    now += 250;
    const containers = new Map(reading(now).map((sample) => [sample.containerID, sample]));
    const context = {
      now,
      capacity,
      lendUpTo: 0.9,
      scarcity,
      pace: DEFAULT_PACE,
      newRule: () => ({ usage }: { usage: number }) => usage,
    };
    const sample = { at: now, containers, unmanaged: 0 };
    const round = runRound(allocations.flatMap(sampleSeats), { sample, book, context });
    scarcity = round.scarcity;
    return round;
  };
  return { book, play };
}

function only({ seats }: RoundResult): SeatResult {
  const [result] = seats;
  assert.ok(result !== undefined && seats.length === 1);
  return result;
}

pure("runRound() keeps the present limit while a container has no readings", () => {
  const { play } = agent();
  const result = only(play([boundedAllocation("a")], () => []));
  assert.deepEqual([result.limit, result.share, result.changedFor], [500, 500, undefined]);
});

pure(
  "runRound() begins with the written limit, else the quota in force, else the own limit",
  () => {
    const containers = [{ name: "app", cpuLimit: "800m" }];
    const written = boundedAllocation("a", { spec: { containers } });
    const reading = (at: number) => [sampleReading("a", { at, quota: 700 })];
    assert.equal(only(agent().play([written], reading)).limit, 800);
    assert.equal(only(agent().play([boundedAllocation("a")], reading)).limit, 700);
  },
);

pure("runRound() raises a container that needs more at once", () => {
  const { play } = agent();
  const busy = (at: number) => [sampleReading("a", { at, usage: 1200, heldBack: 300 })];
  const result = only(play([boundedAllocation("a")], busy));
  assert.deepEqual([result.limit, result.changedFor], [1200, "Throttled"]);
});

pure(
  "runRound() starts a container's page anew when it was restarted, at the limit of before",
  () => {
    const { book, play } = agent();
    const busy = (at: number) => [sampleReading("a", { at, usage: 1200 })];
    play([boundedAllocation("a")], busy);
    const bounds = { revision: 2, reason: "", containers: [sampleBounds("new")] };
    const containers = [{ name: "app", cpuLimit: "1200m" }];
    const restarted = boundedAllocation("a", { spec: { containers }, status: { bounds } });
    const result = only(play([restarted], () => []));
    assert.deepEqual([result.limit, result.changedFor], [1200, undefined]);
    assert.deepEqual([...book.keys()], [result.seat.containerID]);
    assert.equal(result.page.demand, undefined);
  },
);

pure("runRound() earns credit for what is left to others, once for each sample", () => {
  const { play } = agent();
  const allocation = boundedAllocation("a");
  const idle = only(play([allocation], (at) => [sampleReading("a", { at, usage: 0 })]));
  const { credit } = idle.page;
  assert.ok(credit > 1);
  const old = sampleReading("a", { at: 250, usage: 0 });
  assert.equal(only(play([allocation], () => [old])).page.credit, credit);
});

pure("runRound() says how scarce CPU is by what is committed", () => {
  const { play } = agent({ capacity: 10_000 });
  const round = play([boundedAllocation("a")], (at) => [sampleReading("a", { at })]);
  assert.equal(round.scarcity, 0);
  const tight = agent({ capacity: 560 }).play([boundedAllocation("a")], () => []);
  // 543.2 m may be granted and 500 are held; 56 m free would be ample.
  assert.ok(Math.abs(tight.scarcity - (1 - 43.2 / 56)) < 1e-9);
  const full = agent({ capacity: 500 }).play([boundedAllocation("a")], () => []);
  assert.equal(full.scarcity, 1);
});

pure("runRound() clears an empty node", () => {
  const round = agent().play([], () => []);
  assert.deepEqual([round.mode, round.price, round.seats, round.scarcity], [
    "uncongested",
    0,
    [],
    0,
  ]);
});
