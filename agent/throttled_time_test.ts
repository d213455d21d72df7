import assert from "node:assert/strict";
import type { Seat } from "./seats.ts";
import { createThrottledTime } from "./throttled_time.ts";
import type { SeatResult } from "./market_round.ts";
import { boundedAllocation, sampleBounds, sampleSeats } from "../tests/fixtures/sample_seat.ts";

const TWO = {
  bounds: {
    revision: 1,
    reason: "",
    containers: [sampleBounds("a"), sampleBounds("b", { name: "side" })],
  },
};

function seatsOf(pod: string): readonly Seat[] {
  return sampleSeats(boundedAllocation(pod, pod === "a" ? { status: TWO } : {}));
}

/** A round whose containers were held back for so long in all, ms. */
function round(...held: readonly (readonly [Seat | undefined, number])[]) {
  const seats = held.map(([seat, heldBackMs]) => ({ seat, page: { heldBackMs } }) as SeatResult);
  return { seats };
}

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("createThrottledTime() counts all that was read between two rounds, once", () => {
  const [app] = seatsOf("a");
  const time = createThrottledTime();
  time.add(round([app, 100]));
  time.add(round([app, 100]));
  // Ten looks of 100 ms since the last round.
  time.add(round([app, 1100]));
  assert.deepEqual([...time.seconds()], [["a", 1.1]]);
});

pure("createThrottledTime() sums a pod's containers, and goes on when one is restarted", () => {
  const [app, side] = seatsOf("a");
  const time = createThrottledTime();
  time.add(round([app, 1000], [side, 500]));
  const reborn = side === undefined ? undefined : { ...side, containerID: "another" };
  time.add(round([app, 1000], [reborn, 200]));
  assert.deepEqual([...time.seconds()], [["a", 1.7]]);
});

pure("createThrottledTime() forgets pods that are gone", () => {
  const [app] = seatsOf("a");
  const [other] = seatsOf("c");
  const time = createThrottledTime();
  time.add(round([app, 1000], [other, 0]));
  time.add(round([other, 0]));
  assert.deepEqual([...time.seconds()], [["c", 0]]);
});
