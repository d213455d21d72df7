import assert from "node:assert/strict";
import type { ContainerBounds, PodAllocation } from "../shared/api/pod_allocation.ts";
import { boundedAllocation, sampleBounds } from "../tests/fixtures/sample_seat.ts";
import { type Seats, seatsOf } from "./seats.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function withBounds(change: Partial<ContainerBounds>): PodAllocation {
  const containers = [sampleBounds("other", { name: "side" }), sampleBounds("web", change)];
  return boundedAllocation("web", { status: { bounds: { revision: 1, reason: "", containers } } });
}

function refusal(seats: Seats): string {
  return "refused" in seats ? seats.refused : "";
}

pure("seatsOf() takes id, bounds, own limit, and what was written last", () => {
  const containers = [{ name: "app", cpuLimit: "1" }];
  const market = {
    mode: "congested",
    demand: 1,
    need: 1,
    credit: 1.5,
    reason: "Throttled",
    observedBounds: 1,
  } as const;
  const allocation = boundedAllocation("a1", { spec: { containers, market } });
  assert.deepEqual(seatsOf(allocation), {
    seats: [{
      allocation,
      key: "shop/a1",
      containerID: "6131",
      bounds: sampleBounds("a1"),
      ownLimit: 500,
      desired: 1000,
      credit: 1.5,
    }],
  });
});

pure("seatsOf() has no seats while there are no bounds yet", () => {
  assert.deepEqual(seatsOf(boundedAllocation("web", { status: {} })), { seats: [] });
  const { status: _status, ...bare } = boundedAllocation("web");
  assert.deepEqual(seatsOf(bare), { seats: [] });
});

pure("seatsOf() refuses the pod for one bad bid, and names container, field and value", () => {
  assert.match(refusal(seatsOf(withBounds({ weight: 0 }))), /app: weight is 0/);
  assert.match(refusal(seatsOf(withBounds({ weight: NaN }))), /weight is NaN/);
  assert.match(refusal(seatsOf(withBounds({ floor: 300, ceiling: 200 }))), /floor 300 is above/);
  assert.match(refusal(seatsOf(withBounds({ floor: 12.5 }))), /floor is 12.5, expected whole/);
  assert.match(refusal(seatsOf(withBounds({ ceiling: Infinity }))), /ceiling is Infinity/);
  assert.match(refusal(seatsOf(withBounds({ demand: -1 }))), /demand is -1, expected whole/);
  assert.match(refusal(seatsOf(withBounds({ demand: 1e10 }))), /demand is 10000000000/);
  assert.match(refusal(seatsOf(withBounds({ containerID: "containerd://" }))), /containerID is/);
  assert.match(refusal(seatsOf(withBounds({ containerID: "../../etc" }))), /containerID is/);
});

pure("seatsOf() refuses an own limit that is no quantity", () => {
  const status = boundedAllocation("web").status;
  const originalLimits = [{ name: "app", cpu: "much" }];
  const allocation = boundedAllocation("web", { status: { ...status, originalLimits } });
  assert.match(refusal(seatsOf(allocation)), /original limit/);
});

pure("seatsOf() counts a written limit that is no quantity as never written", () => {
  const containers = [{ name: "app", cpuLimit: "-1" }];
  const found = seatsOf(boundedAllocation("web", { spec: { containers } }));
  assert.ok("seats" in found && found.seats[0]?.desired === undefined);
});

pure("seatsOf() brings a credit of somebody else's hand within its bounds", () => {
  for (const [written, credit] of [[0, 0.5], [1e9, 2], [NaN, 1]] as const) {
    const market = {
      mode: "congested",
      demand: 1,
      need: 1,
      credit: written,
      reason: "Throttled",
      observedBounds: 1,
    } as const;
    const found = seatsOf(boundedAllocation("web", { spec: { market } }));
    assert.ok("seats" in found);
    assert.equal(found.seats[0]?.credit, credit);
  }
});
