import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { newNodeState, nextNodeState, type NodeStateMemory } from "./node_state.ts";

/** The states after readings of a node with this capacity: [time, usage, wanted]. */
function states(
  readings: readonly (readonly [number, number, number?])[],
  capacity = 1000,
): NodeStateMemory[] {
  let memory = newNodeState(0);
  return readings.map(([now, usage, wanted = usage]) => {
    memory = nextNodeState(memory, { now, capacity, usage, wanted });
    return memory;
  });
}

pure("nextNodeState() takes CPU for scarce as soon as usage reaches the capacity", () => {
  assert.deepEqual(newNodeState(7), { state: "ample", since: 7 });
  assert.deepEqual(states([[100, 999, 5000], [200, 1000]]), [
    { state: "ample", since: 0 },
    { state: "scarce", since: 200 },
  ]);
});

pure("nextNodeState() takes CPU for ample after 10 s of wanting less than 0.9 of it", () => {
  const scarce = { state: "scarce", since: 0 };
  assert.deepEqual(states([[0, 1000], [1000, 899], [10_999, 899], [11_000, 899]]), [
    scarce,
    { ...scarce, easedSince: 1000 },
    { ...scarce, easedSince: 1000 },
    { state: "ample", since: 11_000 },
  ]);
});

pure("nextNodeState() begins the 10 s anew after a moment in which more is wanted", () => {
  const [, , wanting, again, , end] = states([
    [0, 1000],
    [1000, 500],
    [9000, 500, 900],
    [9100, 500],
    [19_000, 500],
    [19_100, 500],
  ]);
  assert.deepEqual(wanting, { state: "scarce", since: 0 });
  assert.deepEqual(again, { state: "scarce", since: 0, easedSince: 9100 });
  assert.deepEqual(end, { state: "ample", since: 19_100 });
});

pure("nextNodeState() of a node without capacity: scarce while anything is used", () => {
  const [idle, used, , eased, ample] = states(
    [[0, 0], [1000, 1], [2000, 0, 1], [3000, 0], [13_000, 0]],
    0,
  );
  assert.equal(idle?.state, "ample");
  assert.deepEqual(used, { state: "scarce", since: 1000 });
  assert.deepEqual(eased, { state: "scarce", since: 1000, easedSince: 3000 });
  assert.deepEqual(ample, { state: "ample", since: 13_000 });
});

pure("nextNodeState() changes to ample only after 10 s, to scarce only at the capacity", () => {
  const reading = fc.record({
    stepMs: fc.integer({ min: 50, max: 4000 }),
    usage: fc.integer({ min: 0, max: 1500 }),
    throttled: fc.integer({ min: 0, max: 500 }),
  });
  fc.assert(fc.property(fc.array(reading, { maxLength: 60 }), (readings) => {
    let memory = newNodeState(0);
    let now = 0;
    let lastWanted = -Infinity;
    for (const { stepMs, usage, throttled } of readings) {
      now += stepMs;
      const wanted = usage + throttled;
      if (wanted >= 900) lastWanted = now;
      const next = nextNodeState(memory, { now, capacity: 1000, usage, wanted });
      if (next.state !== memory.state) {
        assert.equal(next.since, now);
        if (next.state === "scarce") assert.ok(usage >= 1000);
        else assert.ok(now - lastWanted > 10_000);
      } else {
        assert.equal(next.since, memory.since);
        assert.ok(next.state === "scarce" || usage < 1000);
      }
      memory = next;
    }
  }));
});
