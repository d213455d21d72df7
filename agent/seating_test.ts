import assert from "node:assert/strict";
import { type LogFields, silentLog } from "../shared/log.ts";
import { boundedAllocation, sampleBounds } from "../tests/fixtures/sample_seat.ts";
import { createSeating } from "./seating.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function loud(): { lines: LogFields[]; log: typeof silentLog } {
  const lines: LogFields[] = [];
  return { lines, log: { ...silentLog, warn: (_message, fields = {}) => lines.push(fields) } };
}

pure("createSeating() seats in order of the keys, whatever the order of the allocations", () => {
  const seating = createSeating(silentLog);
  const all = ["b", "c", "a"].map((pod) => boundedAllocation(pod));
  const names = seating.seat(all).seats.map(({ allocation }) => allocation.spec.podName);
  assert.deepEqual(names, ["a", "b", "c"]);
});

pure("createSeating() works a seat out once while the allocation stays the same", () => {
  const seating = createSeating(silentLog);
  const allocation = boundedAllocation("a");
  assert.equal(seating.seat([allocation]).seats[0], seating.seat([allocation]).seats[0]);
  assert.notEqual(seating.seat([{ ...allocation }]).seats[0], seating.seat([allocation]).seats[0]);
});

pure("createSeating() follows who comes, goes and changes, read once as a copy is", () => {
  const seating = createSeating(silentLog);
  const [a, b, c] = ["a", "b", "c"].map((pod) => boundedAllocation(pod));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const newB = { ...b };
  const states = [[a, b], [a, b, c], [a, newB, c], [a, newB, c], [newB, c], [newB], []];
  const tables = states.map((state) => seating.seat(state.values()));
  assert.deepEqual(
    tables.map(({ seats }) => seats.map(({ allocation }) => allocation)),
    states,
  );
  assert.equal(tables[2], tables[3], "nothing changed");
});

pure("createSeating() leaves a bad bid out, says why once, and seats the others", () => {
  const { lines, log } = loud();
  const seating = createSeating(log);
  const containers = [sampleBounds("bad", { weight: 0 })];
  const bad = boundedAllocation("bad", {
    status: { bounds: { revision: 1, reason: "", containers } },
  });
  for (let round = 0; round < 3; round++) {
    assert.equal(seating.seat([bad, boundedAllocation("good")]).seats.length, 1);
  }
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.key, "shop/bad");
  assert.match(String(lines[0]?.reason), /weight is 0/);
});

pure("createSeating() gives a container one seat, however many allocations name it", () => {
  const { lines, log } = loud();
  const seating = createSeating(log);
  const bounds = { revision: 1, reason: "", containers: [sampleBounds("a")] };
  const thief = boundedAllocation("b", { status: { bounds } });
  const double = boundedAllocation("c", {
    status: { bounds: { ...bounds, containers: [sampleBounds("c"), sampleBounds("c")] } },
  });
  const all = [double, thief, boundedAllocation("a")];
  seating.seat(all);
  const names = seating.seat(all).seats.map(({ allocation }) => allocation.spec.podName);
  assert.deepEqual(names, ["a"]);
  assert.deepEqual(lines.map(({ key }) => key).sort(), ["shop/b", "shop/c"]);
});
