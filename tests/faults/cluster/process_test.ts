import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { createProcess } from "./process.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

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
