import assert from "node:assert/strict";
import { legsOf, reactionReport, reactionTable } from "./report.ts";
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

const REST = { ready: 4, scene: "scene", atCeiling: "0 of 8", timeoutMs: 10_000 };
const burstOf = (totalMs: number) => ({ totalMs, legs: { "agent → API": 30 } });

Deno.test("reactionReport() gives median and 95th percentile of the whole and of each leg", () => {
  const report = reactionReport([280, 300, 500].map(burstOf), { ...REST, missed: 0 });
  assert.equal(report.medianMs, 300);
  assert.equal(report.withinLimits, true);
  assert.deepEqual(report.legs, { "agent → API": { medianMs: 30, p95Ms: 30 } });
  assert.match(
    reactionTable(report),
    /^scene.*\n3 bursts, 0 missed; 4 others.*\n.*\nburst → other quota +300/,
  );
});

Deno.test("reactionReport() counts a missed burst as one that took as long as was waited", () => {
  const report = reactionReport([280, 300].map(burstOf), { ...REST, missed: 3 });
  assert.deepEqual([report.bursts, report.medianMs], [5, 10_000]);
  const late = reactionReport(Array(49).fill(burstOf(200)), { ...REST, missed: 1 });
  assert.equal(late.medianMs, 200);
  assert.equal(late.withinLimits, false, "however good the others are");
  assert.throws(() => reactionReport([], { ...REST, missed: 0 }), RangeError);
});
