import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import {
  backlog,
  convergence,
  countReversals,
  drainTime,
  type EnvyInput,
  knownReaction,
  largestEnvy,
  levelChanges,
  someAvg10,
} from "./measures.ts";

/** One entry a second; the load steps at 10 s and holds until 50 s. */
function took(limitAt: (second: number) => number): number | undefined {
  const limit = Float32Array.from({ length: 60 }, (_, second) => limitAt(second));
  return convergence({ limit }, { change: { atS: 10, untilS: 50, from: 1, to: 4 }, stepS: 1 });
}

pure(
  "convergence() ends with the change that brings the limit near its final value for good",
  () => {
    // Entry 20 stands for 21 s.
    assert.equal(took((second) => second < 20 ? 100 : 400), 11);
    assert.equal(took((second) => second < 20 ? 100 : second < 30 ? 370 : 400), 11);
    assert.equal(took((second) => second < 20 ? 100 : second < 30 ? 300 : 400), 21);
    assert.equal(took((second) => second < 20 ? 100 : second === 25 ? 600 : 400), 17);
  },
);

pure(
  "convergence() is 0 for a limit that was there, and looks no further than the level holds",
  () => {
    assert.equal(took(() => 400), 0);
    assert.equal(took((second) => second < 50 ? 400 : 100), 0);
    assert.equal(took((second) => second % 2 === 0 ? 400 : 430), 0);
  },
);

pure("convergence() is undefined for a limit that still moves in the last quarter", () => {
  assert.equal(took((second) => second === 45 ? 600 : 400), undefined);
  assert.equal(took((second) => 100 * second), undefined);
});

pure("backlog() sums what came and was not done, in ms of CPU", () => {
  const demand = Float32Array.of(1000, 2000, 0, 0);
  const usage = Float32Array.of(1000, 500, 1000, 500);
  // 2000 m - 500 m over 0.1 s leave 150 ms.
  assert.deepEqual([...backlog({ demand, usage }, 0.1)].map(Math.round), [0, 150, 50, 0]);
});

/** One entry a second: nothing open but between 20 s and `until`. */
function drained(open: number, { until = 25, before = 0 } = {}): number | undefined {
  const entries = Float64Array.from(
    { length: 60 },
    (_, second) => second >= 20 && second < until ? open : second < 20 ? before : 0,
  );
  const change = { atS: 20, untilS: 30, from: 1, to: 4 };
  return drainTime(entries, { change, stepS: 1, untilS: 50 });
}

pure("drainTime() lasts until no more is open than comes in a period", () => {
  // Entry 25 stands for 26 s and is the first at or below 4 CPUs x 100 ms.
  assert.equal(drained(500), 6);
  assert.equal(drained(500, { until: 40 }), 21);
  assert.equal(drained(400), 0);
});

pure(
  "drainTime() compares with what was open before, and is undefined when it does not end",
  () => {
    assert.equal(drained(500, { before: 600 }), 0);
    assert.equal(drained(500, { until: 50 }), undefined);
  },
);

/** Two minutes at 1 s. */
function pod(got: number, wanted: number, weight = 100): EnvyInput {
  const usage = new Float32Array(120).fill(got);
  return { usage, demand: new Float32Array(120).fill(wanted), weight };
}

function envy(...pods: EnvyInput[]): number {
  return Number(largestEnvy(pods, 1).toFixed(6));
}

pure(
  "largestEnvy() is the share of its demand that a pod would have got from the other's CPU",
  () => {
    // With 600 m in place of its 400 m the first would have a fifth of its 1000 m more.
    assert.equal(envy(pod(400, 1000), pod(600, 1000)), 0.2);
    // It wants no more than 450 m.
    assert.equal(envy(pod(400, 450), pod(600, 1000)), 0.111111);
    assert.equal(envy(pod(500, 1000), pod(500, 1000)), 0);
  },
);

pure("largestEnvy() compares at the pods' weights", () => {
  assert.equal(envy(pod(300, 1000, 100), pod(600, 1000, 200)), 0);
  // The heavier one would have had twice 450 m.
  assert.equal(envy(pod(450, 1000, 100), pod(450, 1000, 200)), 0.45);
});

pure("largestEnvy() is 0 for one pod, and for one that wants nothing", () => {
  assert.equal(envy(pod(1, 1000)), 0);
  assert.equal(envy(pod(0, 0), pod(500, 500)), 0);
  assert.equal(envy(), 0);
});

pure("countReversals() counts turns of each pod by itself", () => {
  const up = (pod: string) => ({ pod, from: 100, to: 200 });
  const down = (pod: string) => ({ pod, from: 200, to: 100 });
  assert.equal(countReversals([]), 0);
  assert.equal(countReversals([up("a"), up("a"), down("b")]), 0);
  assert.equal(countReversals([up("a"), down("b"), down("a"), up("b"), up("a")]), 3);
  const still = { pod: "a", from: 200, to: 200 };
  assert.equal(countReversals([up("a"), still, up("a")]), 0);
});

pure("someAvg10() rises and falls as the kernel's average does", () => {
  // Waiting for 6 s, then not at all; at 1 s.
  const waited = Float32Array.of(1000, 1000, 1000, 1000, 1000, 1000, 0, 0, 0);
  const percent = [...someAvg10(waited, 1)].map((value) => Number(value.toFixed(1)));
  assert.deepEqual(percent, [18.1, 33.0, 45.1, 36.9]);
});

pure("someAvg10() takes the mean of each two seconds", () => {
  const half = Float32Array.from({ length: 400 }, (_, step) => step % 2 === 0 ? 1000 : 0);
  assert.ok(Math.abs((someAvg10(half, 0.1).at(-1) ?? 0) - 50) < 2);
  assert.equal(someAvg10(new Float32Array(19), 0.1).length, 0);
});

/** Ten steps a second: 100 m, and 400 m from 3.0 s to 6.0 s; the limit is 450 m from a step on. */
function reaction(raisedAt: number, { ceiling = 1000, atS = 3 } = {}) {
  const demand = Float32Array.from({ length: 100 }, (_, k) => k >= 30 && k < 60 ? 400 : 100);
  const limit = Float32Array.from({ length: 100 }, (_, k) => k >= raisedAt ? 450 : 150);
  const change = { atS, untilS: 6, from: 0.1, to: 0.4 };
  return knownReaction({ demand, limit, ceiling }, { change, stepS: 0.1 });
}

function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-6, `${actual} ≠ ${expected}`);
}

pure(
  "knownReaction() counts from the burst's beginning to the end of the first step at its demand",
  () => {
    // Entry 34 stands for 3.5 s.
    const { reactionS, wanted, lengthS } = reaction(34);
    near(reactionS, 0.5);
    near(wanted, 400);
    near(lengthS, 3);
  },
);

pure("knownReaction() is 0 where the limit was there, undefined where it never was", () => {
  assert.equal(reaction(0).reactionS, 0);
  assert.equal(reaction(29).reactionS, 0);
  near(reaction(30).reactionS, 0.1);
  near(reaction(59).reactionS, 3);
  assert.equal(reaction(60).reactionS, undefined);
});

pure("knownReaction() asks for no more than the ceiling", () => {
  const { reactionS, wanted } = reaction(90, { ceiling: 150 });
  assert.equal(wanted, 150);
  assert.equal(reactionS, 0);
});

pure("knownReaction() takes a beginning within a step as it is", () => {
  // The first whole step after 2.95 s ends at 3.1 s.
  near(reaction(30, { atS: 2.95 }).reactionS, 0.15);
});

pure("levelChanges() reports each change with the levels around it and how long it lasts", () => {
  assert.deepEqual(levelChanges([1, 1, 4, 1], 1), [
    { atS: 2, untilS: 3, from: 1, to: 4 },
    { atS: 3, untilS: 4, from: 4, to: 1 },
  ]);
  assert.deepEqual(levelChanges([1, 2], 0.5), [{ atS: 0.5, untilS: 1, from: 1, to: 2 }]);
  assert.deepEqual(levelChanges([3, 3, 3], 1), []);
  assert.deepEqual(levelChanges([], 1), []);
});
