import assert from "node:assert/strict";
import { type ArenaPlan, playHere, playInWorkers, runArena } from "../../lab/arena/run_arena.ts";
import type { Stage } from "../../lab/arena/stages.ts";
import { examine } from "../../lab/bench/faults/mutant_exam.ts";
import { readDemoScene } from "../../lab/demo/demo_scene.ts";
import { runDemo } from "../../lab/demo/main.ts";
import { MUTANTS } from "../faults/mutants.ts";

for (const pods of [5, 20, 110]) {
  Deno.test(`runDemo() throttles ${pods} pods at most a third as long as fixed limits of twice the requests`, async () => {
    const { scene } = await readDemoScene({ seed: 1, minutes: 5, pods, giveUp: 10, json: true });
    const [market, twice] = await runDemo(scene, () => {});
    assert.ok(market !== undefined && twice !== undefined);
    assert.ok(market.scores.throttledMsPerS <= twice.scores.throttledMsPerS / 3);
  });
}

/** A minute of half a CPU, which doubles. */
const VALUES = Float64Array.from({ length: 60 }, (_, second) => second < 30 ? 0.5 : 1);

const STAGES: readonly Stage[] = [
  {
    kind: "trace",
    name: "tiny",
    format: "cores",
    trace: { name: "tiny", unit: "cores", stepS: 1, values: VALUES },
    minutes: 1,
  },
  { kind: "shared node", name: "noisy-neighbour", minutes: 1 },
];

Deno.test("runArena() has the same results in this thread, in one worker and in two", async () => {
  const plan: ArenaPlan = {
    stages: STAGES,
    algorithms: ["mbcas-original", "coallocator", "oracle"],
    seeds: 1,
    giveUp: 10,
    keepSeries: true,
  };
  const expected = await runArena(plan, { player: playHere(STAGES) });
  assert.equal(expected.length, 2);
  for (const count of [1, 2]) {
    const player = playInWorkers(STAGES, count);
    try {
      assert.deepEqual(await runArena(plan, { player }), expected);
    } finally {
      player.close();
    }
  }
});

Deno.test("examine() finds a planted bug with a run without faults", async () => {
  const mutants = MUTANTS.filter(({ name }) => name === "a deleted object stays in the copy");
  const plansFor = () => [{ seed: 1, idleCPU: "free", faults: [] }] as const;
  const root = new URL("../../", import.meta.url);
  const rows = await examine(mutants, { plansFor, root, onRow: () => {} });
  assert.deepEqual(rows.map(({ found, played }) => [found, played]), [[true, 1]]);
});
