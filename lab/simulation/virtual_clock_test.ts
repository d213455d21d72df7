import fc from "fast-check";
import assert from "node:assert/strict";
import { clockContract } from "../../tests/contract/clock_and_cgroup_contracts.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createVirtualClock } from "./virtual_clock.ts";

clockContract("createVirtualClock()", () => {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  return { clock, pass: (ms) => clock.runUntil(clock.monotonic() + ms) };
});

pure(
  "runUntil() fires timers by time, equal times in the order they were set",
  () =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(50)), async (times) => {
      const clock = createVirtualClock({ wallStart: 0 });
      const fired: [number, number][] = [];
      times.forEach((time, index) => clock.at(time, () => fired.push([clock.monotonic(), index])));
      await clock.runUntil(50);
      const expected = times.map((time, index): [number, number] => [time, index])
        .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      assert.deepEqual(fired, expected);
      assert.equal(clock.monotonic(), 50);
    })),
);

pure("runUntil() lets long chains of promises end before the next timer fires", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const seen: string[] = [];
  const loop = async () => {
    await clock.sleep(10);
    for (let step = 0; step < 1000; step++) await Promise.resolve();
    seen.push(`chain done at ${clock.monotonic()}`);
  };
  const running = loop();
  clock.at(10, () => seen.push("second timer of 10"));
  clock.at(11, () => seen.push("timer of 11"));
  await clock.runUntil(20);
  await running;
  assert.deepEqual(seen, ["chain done at 10", "second timer of 10", "timer of 11"]);
});

pure("at() returns a function that takes the call back", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  let calls = 0;
  const cancel = clock.at(5, () => calls++);
  clock.at(6, () => calls += 10);
  cancel();
  cancel();
  await clock.runUntil(10);
  assert.equal(calls, 10);
});

pure(
  "runUntil() refuses the past and a second run, and passes on errors of callbacks",
  async () => {
    const clock = createVirtualClock({ wallStart: 0 });
    await clock.runUntil(10);
    await assert.rejects(clock.runUntil(5), /5 ms is before 10 ms/);
    const first = clock.runUntil(20);
    await assert.rejects(clock.runUntil(30), /already running/);
    await first;
    clock.at(25, () => {
      throw new TypeError("from a callback");
    });
    await assert.rejects(clock.runUntil(30), /from a callback/);
    await clock.runUntil(30);
    assert.equal(clock.monotonic(), 30);
  },
);
