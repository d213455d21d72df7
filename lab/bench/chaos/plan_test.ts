import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { drawPlan, type Kill, type Step, TARGETS } from "./plan.ts";

const killsOf = (steps: readonly Step[]): Kill[] =>
  steps.filter((step): step is Kill => step.kind === "kill");

pure("drawPlan() gives the same plan for the same seed, and another for another", () => {
  assert.deepEqual(drawPlan(7, 600_000), drawPlan(7, 600_000));
  assert.notDeepEqual(drawPlan(7, 600_000), drawPlan(8, 600_000));
});

pure("drawPlan() kills each target once in each round, 8 to 24 s apart, for 1 to 10 s", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const kills = killsOf(drawPlan(seed, 600_000));
    assert.ok(kills.length >= 24, `${kills.length} kills`);
    for (let i = 0; i + 6 <= kills.length; i += 6) {
      const round = kills.slice(i, i + 6).map(({ target }) => target);
      assert.deepEqual(round.toSorted(), TARGETS.toSorted());
    }
    kills.forEach(({ atMs, downMs }, i) => {
      const gap = atMs - (kills[i - 1]?.atMs ?? 0);
      assert.ok(gap >= 7999 && gap <= 24_001, `${gap} ms`);
      assert.ok(downMs >= 1000 && downMs <= 10_000, `${downMs} ms`);
    });
  }
});

pure("drawPlan() is in the order of time, ends in time, and opts out and in by turns", () => {
  const steps = drawPlan(3, 600_000);
  const times = steps.map(({ atMs }) => atMs);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
  assert.ok((times.at(-1) ?? 0) < 600_000);
  const turns = steps.map(({ kind }) => kind).filter((kind) => kind.startsWith("opt"));
  assert.deepEqual(turns, turns.map((_, index) => index % 2 === 0 ? "optOut" : "optIn"));
  assert.ok(turns.length >= 5);
});
