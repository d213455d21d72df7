import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { newNodeState, nextNodeState, type NodeStateMemory } from "./node_state.ts";

const scarce = (since: number, easedSince?: number): NodeStateMemory => ({
  ...{ state: "scarce", since },
  ...(easedSince === undefined ? {} : { easedSince }),
});
const ample = newNodeState;

pure("nextNodeState() is scarce at the capacity, ample after 10 s of clearly less", () => {
  const plays: readonly (readonly [
    capacity: number,
    ...(readonly [now: number, usage: number, wanted: number, NodeStateMemory])[],
  ])[] = [
    [1000, [100, 999, 5000, ample(0)], [200, 1000, 1000, scarce(200)]],
    [
      1000,
      [0, 1000, 1000, scarce(0)],
      [1000, 899, 899, scarce(0, 1000)],
      [10_999, 899, 899, scarce(0, 1000)],
      [11_000, 899, 899, ample(11_000)],
    ],
    [
      1000,
      [0, 1000, 1000, scarce(0)],
      [1000, 500, 500, scarce(0, 1000)],
      [9000, 500, 900, scarce(0)],
      [9100, 500, 500, scarce(0, 9100)],
      [19_000, 500, 500, scarce(0, 9100)],
      [19_100, 500, 500, ample(19_100)],
    ],
    // Without capacity scarce while anything is used.
    [
      0,
      [0, 0, 0, ample(0)],
      [1000, 1, 1, scarce(1000)],
      [2000, 0, 1, scarce(1000)],
      [3000, 0, 0, scarce(1000, 3000)],
      [13_000, 0, 0, ample(13_000)],
    ],
  ];
  for (const [capacity, ...readings] of plays) {
    let memory = newNodeState(0);
    for (const [now, usage, wanted, expected] of readings) {
      memory = nextNodeState(memory, { now, capacity, usage, wanted });
      assert.deepEqual(memory, expected);
    }
  }
});

forAll(
  "nextNodeState() changes to ample only after 10 s, to scarce only at the capacity",
  [fc.array(fc.tuple(fc.integer({ min: 50, max: 4000 }), fc.nat(1500), fc.nat(500)))],
  (readings) => {
    let [memory, now, lastWanted] = [newNodeState(0), 0, -Infinity];
    for (const [stepMs, usage, throttled] of readings) {
      now += stepMs;
      const wanted = usage + throttled;
      if (wanted >= 900) lastWanted = now;
      const next = nextNodeState(memory, { now, capacity: 1000, usage, wanted });
      assert.equal(next.since, next.state === memory.state ? memory.since : now);
      if (next.state === "ample") assert.ok(usage < 1000);
      if (next.state === "scarce" && memory.state === "ample") assert.ok(usage >= 1000);
      const eases = next.state === "ample" && memory.state === "scarce";
      if (eases) assert.ok(now - lastWanted > 10_000);
      memory = next;
    }
  },
  1,
);
