import assert from "node:assert/strict";
import { seededRandom } from "../../../shared/random.ts";
import { PERFORMERS, SCALED } from "./crowd.ts";
import { crowdLoad, levelOf } from "./crowd_load.ts";

const SECONDS = 600;

function meanCores(costMs: Float64Array): number {
  return costMs.reduce((sum, cost) => sum + cost, 0) / 1000 / SECONDS;
}

Deno.test("crowdLoad() is the same for one seed and another for the next", () => {
  const costs = (seed: number): number[] =>
    [...crowdLoad(PERFORMERS, { seed, seconds: 60 }).values()].flatMap(({ costMs }) => [...costMs]);
  assert.deepEqual(costs(1), costs(1));
  assert.notDeepEqual(costs(1), costs(2));
});

Deno.test("crowdLoad() asks equal workers for about the same, and all for some 30 % of the node", () => {
  const load = crowdLoad(PERFORMERS, { seed: 1, seconds: SECONDS });
  const all = PERFORMERS.map(({ name }) => meanCores(load.get(name)?.costMs ?? new Float64Array()));
  const workers = all.filter((_, index) => PERFORMERS[index]?.member.name === "worker");
  assert.ok(Math.max(...workers) < 1.5 * Math.min(...workers), workers.join());
  const sum = all.reduce((total, cores) => total + cores, 0);
  assert.ok(sum > 0.5 && sum < 0.7, `${sum} CPUs`);
});

Deno.test("levelOf() is known for every performer, and waves for the scaled one", () => {
  for (const performer of PERFORMERS) {
    const level = levelOf(performer, { random: seededRandom(1), seconds: SECONDS });
    const levels = Array.from({ length: SECONDS }, (_, second) => level(second));
    assert.ok(levels.every((each) => each > 0), performer.name);
    if (performer.name !== SCALED) continue;
    assert.deepEqual([levels[0], levels[60], levels[150], levels[260]], [30, 150, 30, 150]);
  }
});
