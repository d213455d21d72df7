import assert from "node:assert/strict";
import { type ArenaPlan, playHere, playInWorkers, runArena } from "../../lab/arena/run_arena.ts";
import type { Stage } from "../../lab/arena/stages.ts";

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
