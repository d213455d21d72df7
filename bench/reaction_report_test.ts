import assert from "node:assert/strict";
import { legsOf, reactionReport, reactionTable } from "./reaction_report.ts";

const TIMES = { begun: 1000, podQuota: 1260, containerQuota: 1280, from: 200, to: 400 };
const SIGHTINGS = {
  agent: [{ at: 500, limit: 200 }, { at: 1150, limit: 400 }],
  api: [{ at: 500, limit: 200 }, { at: 1180, limit: 400 }],
  controller: [{ at: 1205, limit: 400 }],
};

Deno.test("legsOf() divides the time of a burst at the first rise after it began", () => {
  assert.deepEqual(legsOf(TIMES, SIGHTINGS), {
    totalMs: 280,
    legs: {
      "kernel → agent": 150,
      "agent → API": 30,
      "API → controller": 25,
      "controller → kubelet": 55,
      "kubelet → cgroup": 20,
    },
  });
});

Deno.test("legsOf() leaves out legs whose ends were not seen, and what was no rise", () => {
  const agent = [{ at: 500, limit: 200 }, { at: 1100, limit: 180 }];
  assert.deepEqual(Object.keys(legsOf(TIMES, { ...SIGHTINGS, agent }).legs), [
    "API → controller",
    "controller → kubelet",
    "kubelet → cgroup",
  ]);
});

Deno.test("legsOf() calls a leg over whose news came late", () => {
  const controller = [{ at: 1270, limit: 400 }];
  const { legs } = legsOf(TIMES, { ...SIGHTINGS, controller });
  assert.equal(legs["controller → kubelet"], 0);
});

Deno.test("reactionReport() gives median and 95th percentile of the whole and of each leg", () => {
  const bursts = [280, 300, 900].map((totalMs) => ({ totalMs, legs: { "agent → API": 30 } }));
  const rest = { missed: 1, modes: { uncongested: 4 }, scene: "scene", lendUpTo: 0.9 };
  const report = reactionReport(bursts, rest);
  assert.equal(report.medianMs, 300);
  assert.equal(report.bursts, 3);
  assert.deepEqual(report.legs, { "agent → API": { medianMs: 30, p95Ms: 30 } });
  assert.match(reactionTable(report), /^3 bursts, 1 missed; scene\n.*\nburst → larger quota +300/);
  assert.throws(() => reactionReport([], rest), /no burst was answered/);
});
