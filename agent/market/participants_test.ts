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
  ...{ mode: "congested", demand: 1, need: 1, reason: "Throttled", observedBounds: 1 } as const,
  credit: 1.5,
};
const HUGE = "99999999999999k";

function pods({ list }: Participants): string[] {
  return list.map(({ allocation }) => allocation.spec.podName);
}

/** The allocation of a pod with these bounds. */
function boundedBy(pod: string, ...containers: readonly ContainerBounds[]): PodAllocation {
  const bounds = { revision: 1, reason: "", containers: [...containers] };
  return boundedAllocation(pod, { status: { bounds } });
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
    ...{ allocation, key: "shop/a1", containerID: "6131", bounds: sampleBounds("a1") },
    ...{ originalLimit: 500, desired: 1000, credit: 1.5 },
  }]);
  const { status: _status, ...bare } = allocation;
  for (const unbounded of [bare, { ...bare, status: {} }]) {
    assert.deepEqual(participantsOf(unbounded), []);
  }
});

pure("participantsOf() counts no limit beyond any node, and bounds the credit", () => {
  for (const [written, credit] of [[0, 0.5], [1e9, 2]] as const) {
    const { status } = boundedAllocation("web");
    const [found] = participantsOf(boundedAllocation("web", {
      spec: {
        containers: [{ name: "app", cpuLimit: HUGE }],
        market: { ...MARKET, credit: written },
      },
      status: { ...status, originalLimits: [{ name: "app", cpu: HUGE }] },
    }));
    assert.deepEqual(
      [found?.desired, found?.originalLimit, found?.credit],
      [undefined, 100, credit],
    );
  }
});

pure(
  "createParticipantIndex() follows allocations that come, go and change, in order of their keys",
  () => {
    const index = createParticipantIndex(silentLog);
    const [a, b, c] = ["a", "b", "c"].map((pod) => boundedAllocation(pod));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const newB = { ...b };
    const states = [[b, a], [c, a, b], [a, newB, c], [a, newB, c], [newB, c], [newB], []];
    const found = states.map((state) => index(state.values()));
    for (const [index, { list }] of found.entries()) {
      const sorted = states[index]?.toSorted((x, y) => x.metadata.name < y.metadata.name ? -1 : 1);
      assert.deepEqual(list.map(({ allocation }) => allocation), sorted);
    }
    assert.equal(found[2], found[3], "nothing changed");
  },
);

/** Bounds that can't be bid with, and why. */
const BAD: readonly (readonly [Partial<ContainerBounds>, RegExp])[] = [
  [{ weight: 1e10 }, /app: weight is 10000000000/],
  [{ floor: 300, ceiling: 200 }, /app: floor 300 is above/],
  [{ ceiling: 1e10 }, /app: ceiling is 10000000000/],
];

pure(
  "createParticipantIndex() leaves out a pod with a bad bid, warns of it once, and keeps the others",
  () => {
    for (const [change, reason] of BAD) {
      const { lines, index } = warning();
      const side = sampleBounds("other", { name: "side" });
      const allocation = boundedBy("bad", side, sampleBounds("bad", change));
      for (let round = 0; round < 3; round++) {
        const found = index([allocation, boundedAllocation("good")]);
        assert.deepEqual([pods(found), [...found.keys]], [["good"], ["shop/bad", "shop/good"]]);
      }
      assert.deepEqual(lines.map(({ key }) => key), ["shop/bad"]);
      assert.match(String(lines[0]?.reason), reason);
    }
  },
);

pure("createParticipantIndex() gives a container to one allocation, however many name it", () => {
  const { lines, index } = warning();
  const thief = boundedBy("b", sampleBounds("a"));
  const double = boundedBy("c", sampleBounds("c"), sampleBounds("c"));
  const all = [double, thief, boundedAllocation("a")];
  for (const state of [all, [...all]]) assert.deepEqual(pods(index(state)), ["a"]);
  assert.deepEqual(lines.map(({ key }) => key).sort(), ["shop/b", "shop/c"]);
});
