import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import { derivePlans, drawPlan, shrinkPlan } from "./draw_plan.ts";
import type { Fault, FaultPlan } from "./fault.ts";
import { playPlan } from "./play_plan.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createProcess } from "./cluster/process.ts";
import { MUTANTS, mutate } from "./mutants.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

const NO_FAULTS: FaultPlan = { seed: 1, idleCPU: "free", faults: [] };

test("playPlan() breaks no promise without faults, and plays the same plan the same way", async () => {
  const first = await playPlan(NO_FAULTS, { record: true });
  assert.deepEqual(first.violations, []);
  assert.deepEqual(await playPlan(NO_FAULTS, { record: true }), first);
});

test("playPlan() breaks no promise under drawn faults", async () => {
  for (const seed of [5, 59, 96, 1034]) {
    const { violations } = await playPlan(drawPlan(seed));
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});

test("playPlan() breaks no promise when another client overwrites a desired limit", async () => {
  for (const pod of ["shop/web-a", "shop/web-b"]) {
    const fault: Fault = { fault: "corrupt", atMs: 50_000, pod, field: "desired" };
    const { violations } = await playPlan({ ...NO_FAULTS, faults: [fault] });
    assert.deepEqual(violations, [], pod);
  }
});

test("derivePlans() has a plan for each write and each event of a run", async () => {
  const run = await playPlan({ ...NO_FAULTS, idleCPU: "tight" }, { record: true });
  const kinds = derivePlans({ plan: NO_FAULTS, ...run }).map(({ faults }) => faults.at(-1)?.fault);
  const writes = run.requests.filter(({ verb, kind }) => verb === "resize" && kind === "Pod");
  assert.ok(writes.length > 50, `${writes.length}`);
  for (const kind of ["crash", "freeze", "travel"] as const) {
    assert.ok(kinds.filter((one) => one === kind).length > 200, kind);
  }
});

test("drawPlan() draws each kind of fault, the same for the same seed", () => {
  const plans = Array.from({ length: 60 }, (_, seed) => drawPlan(seed));
  const kinds = new Set(plans.flatMap(({ faults }) => faults.map(({ fault }) => fault)));
  assert.equal(kinds.size, 21);
  assert.deepEqual(drawPlan(7), plans[7]);
  return Promise.resolve();
});

function outage(atMs: number): Fault {
  return { fault: "outage", atMs, ms: 1000 };
}

pure("shrinkPlan() keeps only the faults that are needed together", async () => {
  const faults = Array.from({ length: 17 }, (_, i) => outage(i * 1000));
  const plan: FaultPlan = { seed: 1, idleCPU: "free", faults };
  const needed = [faults[3], faults[12]];
  const small = await shrinkPlan(
    plan,
    (one) => Promise.resolve(needed.every((fault) => one.faults.some((two) => two === fault))),
  );
  assert.deepEqual(small.faults, needed);
});

const START = { wallStart: 1_000_000 };

test("a process that is killed never continues", async () => {
  const clock = createVirtualClock(START);
  const process = createProcess(clock);
  let ended = 0;
  process.onEnd(() => ended++);
  let awake = false;
  void process.clock.sleep(100).then(() => void (awake = true));
  await clock.runUntil(50);
  process.kill();
  await clock.runUntil(1000);
  assert.deepEqual([awake, process.alive, ended], [false, false, 1]);
});

test("a process that stands still continues late, in the order of what it waited for", async () => {
  const clock = createVirtualClock(START);
  const process = createProcess(clock);
  const seen: string[] = [];
  void process.clock.sleep(100).then(() => void seen.push(`slept ${clock.monotonic()}`));
  const answer = clock.sleep(150).then(() => "answer");
  void process.receive(answer).then((text) => void seen.push(`${text} ${clock.monotonic()}`));
  await clock.runUntil(50);
  process.pause(500);
  await clock.runUntil(540);
  assert.deepEqual(seen, []);
  await clock.runUntil(600);
  assert.deepEqual(seen, ["slept 550", "answer 550"]);
});

test("a process's wall clock jumps, its monotonic clock does not", async () => {
  const clock = createVirtualClock(START);
  const process = createProcess(clock);
  await clock.runUntil(10);
  process.jumpClock(-5000);
  assert.deepEqual([process.clock.wall(), process.clock.monotonic()], [995_010, 10]);
});

Deno.test("each mutant stands at one place of the sources", async () => {
  for (const mutant of MUTANTS) {
    const source = await Deno.readTextFile(new URL(`../../${mutant.file}`, import.meta.url));
    assert.notEqual(mutate(source, mutant), source, mutant.name);
  }
});

Deno.test("at least 40 mutants, half of them with stale views", () => {
  const stale = MUTANTS.filter(({ kind }) => kind === "stale").length;
  assert.ok(MUTANTS.length >= 40, `${MUTANTS.length}`);
  assert.ok(stale / MUTANTS.length >= 0.4, `${stale}`);
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
});

Deno.test("docs/reliability.md says of each mutant what found it", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/reliability.md", import.meta.url),
  );
  const rows = [...page.matchAll(/^\| (.+?) +\| (stale|crash|missed|rule) +\|/gm)];
  assert.deepEqual(
    rows.map(([, name, kind]) => `${kind}: ${name}`),
    MUTANTS.map(({ name, kind }) => `${kind}: ${name}`),
  );
});
