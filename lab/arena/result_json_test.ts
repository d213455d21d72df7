import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { outcome, stageResult } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { OURS, OURS_TIGHT, UNLIMITED } from "./outcome.ts";
import { checkGoals } from "./goals.ts";
import { arenaJSON, stageJSON } from "./result_json.ts";

const GUIDE = new URL("../../docs/reference.md", import.meta.url);
const HEADING = "## `simulate` and the arena";

const TRACE = stageResult([
  outcome({ ...OURS, cores: 1.5 }),
  outcome({ ...OURS_TIGHT, cores: 1.5 }),
  outcome({ algorithm: "captain", setting: "target 0.1" }),
  outcome({ ...UNLIMITED, cores: 64 }),
], { p95Cores: 2 });
const STEPS = stageResult([outcome({ ...OURS_TIGHT, convergeS: 90 })], {
  kind: "steps",
  name: "steps",
});

pure(
  "stageJSON() has null for a figure that is missing, and its spread only where there is one",
  () => {
    const { algorithms, yardsticks } = stageJSON(TRACE);
    const [ours] = algorithms;
    assert.equal(ours?.reactionMsMedian, null);
    const spread = ours?.spread as Record<string, unknown>;
    assert.deepEqual(spread.cores, [1.5, 1.5]);
    assert.equal("reactionMsMedian" in spread, false);
    assert.deepEqual(yardsticks.map((one) => one.algorithm), ["unlimited"]);
  },
);

Deno.test({
  name: "arenaJSON() has no field that docs/reference.md does not explain",
  permissions: { read: [GUIDE] },
  async fn() {
    const guide = await Deno.readTextFile(GUIDE);
    const [, after = ""] = guide.split(HEADING);
    const section = after.split(/^##/m)[0] ?? "";
    const stages = [TRACE, STEPS];
    const { traces, scenes, goals } = arenaJSON(stages, checkGoals(stages));
    const explained = new Set([...section.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    const algorithms = stages.flatMap((stage) => stageJSON(stage).algorithms);
    assert.ok(
      traces.length === 1 && scenes.length === 1 && goals.length > 3 && algorithms.length === 4,
    );
    const objects = [...traces, ...scenes, ...goals, ...algorithms] as object[];
    for (const name of ["traces", "scenes", "goals", ...objects.flatMap(Object.keys)]) {
      assert.ok(explained.has(name), `"${name}" is not in docs/reference.md under "${HEADING}"`);
    }
  },
});
