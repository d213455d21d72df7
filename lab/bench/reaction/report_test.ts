import assert from "node:assert/strict";
import { legsOf, reactionGoals, spreads } from "./report.ts";
import type { Sightings } from "./scene.ts";

const TIMES = { begun: 1000, firstQuota: 1260, containerQuota: 1280, to: 400 };
const SIGHTINGS = {
  agent: [{ at: 500, limit: 200 }, { at: 1150, limit: 400 }],
  api: [{ at: 500, limit: 200 }, { at: 1180, limit: 400 }],
  controller: [{ at: 500, limit: 200 }, { at: 1205, limit: 400 }],
};

const legsUp = (sightings: Sightings) => legsOf(TIMES, { sightings, direction: "up" }).legs;

Deno.test("legsOf() divides the time of a burst at the first move after it began", () => {
  const legs = {
    "kernel → agent": 150,
    "agent → API": 30,
    "API → controller": 25,
    "controller → kubelet": 55,
    "kubelet → cgroup": 20,
  };
  assert.deepEqual(legsOf(TIMES, { sightings: SIGHTINGS, direction: "up" }), {
    totalMs: 280,
    legs,
  });
  const fromTo = (
    at: number,
  ) => [{ at: 500, limit: 400 }, { at: 1100, limit: 410 }, { at, limit: 200 }];
  const sightings = { agent: fromTo(1150), api: fromTo(1180), controller: fromTo(1205) };
  assert.deepEqual(legsOf(TIMES, { sightings, direction: "down" }).legs, legs);
});

Deno.test("legsOf() leaves out legs with ends that were not seen, and what was no move", () => {
  const agent = [{ at: 500, limit: 200 }, { at: 1100, limit: 180 }];
  const unknown = legsUp({ ...SIGHTINGS, agent: [{ at: 1150, limit: 400 }] });
  assert.equal(unknown["kernel → agent"], undefined, "there is nothing to compare it with");
  assert.deepEqual(Object.keys(legsUp({ ...SIGHTINGS, agent })), [
    "API → controller",
    "controller → kubelet",
    "kubelet → cgroup",
  ]);
});

Deno.test("legsOf() calls a leg over with an event that came late", () => {
  const controller = [{ at: 500, limit: 200 }, { at: 1270, limit: 400 }];
  assert.equal(legsUp({ ...SIGHTINGS, controller })["controller → kubelet"], 0);
});

const burstOf = (totalMs: number) => ({ totalMs, legs: { "agent → API": 30 } });

Deno.test("spreads() has median and 95th percentile of the whole and of each leg that was seen", () => {
  const legs = spreads([280, 300, 500].map(burstOf), { missed: 0, timeoutMs: 10_000 });
  assert.deepEqual(legs, [
    ["burst → other quota", { medianMs: 300, p95Ms: 480 }],
    ["agent → API", { medianMs: 30, p95Ms: 30 }],
  ]);
  assert.ok(reactionGoals(legs, 0).every(({ held }) => held));
});

Deno.test("reactionGoals() hold neither with a missed burst nor without any", () => {
  const held = (bursts: readonly number[], missed: number) =>
    reactionGoals(spreads(bursts.map(burstOf), { missed, timeoutMs: 10_000 }), missed)
      .map((goal) => goal.held);
  assert.deepEqual(held([280, 300], 3), [false, false, false]);
  // However good the others are.
  assert.deepEqual(held(Array(49).fill(200), 1), [true, true, false]);
  assert.deepEqual(held([], 0), [false, false, true]);
});
