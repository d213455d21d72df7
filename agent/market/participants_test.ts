import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import { type LogFields, silentLog } from "../../shared/log.ts";
import {
  boundedAllocation,
  sampleBounds,
} from "../../tests/fixtures/market/sample_participants.ts";
import { createParticipantIndex, type Participants, participantsOf } from "./participants.ts";

const MARKET = {
  mode: "congested",
  demand: 1,
  need: 1,
  credit: 1.5,
  reason: "Throttled",
  observedBounds: 1,
} as const;

function pods({ list }: Participants): string[] {
  return list.map(({ allocation }) => allocation.spec.podName);
}

/** An index, and what it warns of. */
function warning() {
  const lines: LogFields[] = [];
  const warn = (_message: string, fields: LogFields = {}) => void lines.push(fields);
  return { lines, index: createParticipantIndex({ ...silentLog, warn }) };
}

pure("participantsOf() takes id, bounds, original limit, and what was written last", () => {
  const containers = [{ name: "app", cpuLimit: "1" }];
  const allocation = boundedAllocation("a1", { spec: { containers, market: MARKET } });
  assert.deepEqual(participantsOf(allocation), [{
    allocation,
    key: "shop/a1",
    containerID: "6131",
    bounds: sampleBounds("a1"),
    originalLimit: 500,
    desired: 1000,
    credit: 1.5,
  }]);
});

pure("participantsOf() has none while there are no bounds yet", () => {
  assert.deepEqual(participantsOf(boundedAllocation("web", { status: {} })), []);
  const { status: _status, ...bare } = boundedAllocation("web");
  assert.deepEqual(participantsOf(bare), []);
});

pure("participantsOf() counts limits beyond any node as never written", () => {
  const huge = "99999999999999k";
  const status = boundedAllocation("web").status;
  const found = participantsOf(boundedAllocation("web", {
    spec: { containers: [{ name: "app", cpuLimit: huge }] },
    status: { ...status, originalLimits: [{ name: "app", cpu: huge }] },
  }));
  assert.deepEqual(found.map(({ desired, originalLimit }) => [desired, originalLimit]), [
    [undefined, 100],
  ]);
});

pure("participantsOf() brings a credit that another client wrote within its bounds", () => {
  for (const [written, credit] of [[0, 0.5], [1e9, 2]] as const) {
    const market = { ...MARKET, credit: written };
    const [found] = participantsOf(boundedAllocation("web", { spec: { market } }));
    assert.equal(found?.credit, credit);
  }
});

pure("update() gives participants in order of the keys, whatever the order of allocations", () => {
  const index = createParticipantIndex(silentLog);
  const all = ["b", "c", "a"].map((pod) => boundedAllocation(pod));
  assert.deepEqual(pods(index.update(all)), ["a", "b", "c"]);
});

pure("update() finds participants once while the allocation stays the same", () => {
  const index = createParticipantIndex(silentLog);
  const allocation = boundedAllocation("a");
  const first = (one: PodAllocation) => index.update([one]).list[0];
  assert.equal(first(allocation), first(allocation));
  assert.notEqual(first({ ...allocation }), first(allocation));
});

pure("update() follows allocations that come, go and change", () => {
  const index = createParticipantIndex(silentLog);
  const [a, b, c] = ["a", "b", "c"].map((pod) => boundedAllocation(pod));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const newB = { ...b };
  const states = [[a, b], [a, b, c], [a, newB, c], [a, newB, c], [newB, c], [newB], []];
  const found = states.map((state) => index.update(state.values()));
  assert.deepEqual(found.map(({ list }) => list.map(({ allocation }) => allocation)), states);
  assert.equal(found[2], found[3], "nothing changed");
});

pure("update() leaves out a pod with a bad bid, warns of it once, and keeps the others", () => {
  const bad: readonly (readonly [Partial<ContainerBounds>, RegExp])[] = [
    [{ weight: 1e10 }, /app: weight is 10000000000/],
    [{ floor: 300, ceiling: 200 }, /app: floor 300 is above/],
    [{ ceiling: 1e10 }, /app: ceiling is 10000000000/],
  ];
  for (const [change, reason] of bad) {
    const { lines, index } = warning();
    const containers = [sampleBounds("other", { name: "side" }), sampleBounds("bad", change)];
    const bounds = { revision: 1, reason: "", containers };
    const allocation = boundedAllocation("bad", { status: { bounds } });
    for (let round = 0; round < 3; round++) {
      const found = index.update([allocation, boundedAllocation("good")]);
      assert.deepEqual(pods(found), ["good"]);
      assert.deepEqual([...found.keys], ["shop/bad", "shop/good"]);
    }
    assert.deepEqual(lines.map(({ key }) => key), ["shop/bad"]);
    assert.match(String(lines[0]?.reason), reason);
  }
});

pure("update() gives a container to one allocation, however many name it", () => {
  const { lines, index } = warning();
  const bounds = { revision: 1, reason: "", containers: [sampleBounds("a")] };
  const thief = boundedAllocation("b", { status: { bounds } });
  const double = boundedAllocation("c", {
    status: { bounds: { ...bounds, containers: [sampleBounds("c"), sampleBounds("c")] } },
  });
  const all = [double, thief, boundedAllocation("a")];
  index.update(all);
  assert.deepEqual(pods(index.update([...all])), ["a"]);
  assert.deepEqual(lines.map(({ key }) => key).sort(), ["shop/b", "shop/c"]);
});
