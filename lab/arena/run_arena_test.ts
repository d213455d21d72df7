import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { EQUAL_CORES, isSameEntry, OURS_TIGHT } from "./outcome.ts";
import { playHere, playInWorkers } from "./play_contests.ts";
import { type ArenaPlan, runArena } from "./run_arena.ts";
import type { Stage } from "./stages.ts";

/** A minute of half a CPU, which doubles, as a trace. */
function tinyStage(name = "tiny"): Stage {
  const values = Float64Array.from({ length: 60 }, (_, second) => second < 30 ? 0.5 : 1);
  const trace = { name, unit: "cores", stepS: 1, values } as const;
  return { kind: "trace", name, format: "cores", trace, minutes: 1 };
}

function plan(some: Partial<ArenaPlan> = {}): ArenaPlan {
  return { stages: [tinyStage()], algorithms: ["mbcas"], seeds: 1, keepSeries: false, ...some };
}

async function here(tried: ArenaPlan) {
  const player = playHere(tried.stages);
  return await runArena(tried, { player });
}

pure(
  "runArena() gives a rival's settings and modes of ours an entry each, the oracle one",
  async () => {
    const [result] = await here(plan({ algorithms: ["static", "ours", "oracle"] }));
    assert(result !== undefined);
    const algorithms = result.outcomes.map(({ algorithm }) => algorithm);
    assert.deepEqual(algorithms, [
      ...["static", "static", "static", "static", "static"],
      ...["ours", "ours-tight", "static-equal", "oracle", "unlimited"],
    ]);
    const [ours, equal] = [OURS_TIGHT, EQUAL_CORES].map((entry) =>
      result.outcomes.find((one) => isSameEntry(one, entry))
    );
    const cores = ours?.median.coresAllocated ?? 0;
    assert.ok(cores > 0);
    assert.ok(Math.abs((equal?.median.coresAllocated ?? 0) - cores) < 0.001);
  },
);

pure("runArena() plays victims of a neighbour without it", async () => {
  const stages: Stage[] = [{ kind: "services", name: "busy-neighbour", minutes: 1 }];
  const [result] = await here(plan({ stages, algorithms: ["ours"] }));
  const victims = new Map(
    result?.outcomes.map(({ algorithm, median }) => [algorithm, median.victimsP99Ms ?? 0]),
  );
  const algorithms = ["ours", "ours-tight", "static-equal", "unlimited", "alone"];
  assert.deepEqual([...victims.keys()], algorithms);
  const [alone = 0, free = 0] = [victims.get("alone"), victims.get("ours")];
  assert.ok(alone > 0 && alone <= free, `${alone} ms alone, ${free} ms beside the neighbour`);
});

pure("runArena() makes the SLO from P99 without any limit, unless it is given", async () => {
  const [made] = await here(plan({ seeds: 3 }));
  const unlimited = made?.outcomes.find(({ algorithm }) =>
    algorithm === "unlimited"
  )?.median.p99Ms ?? 0;
  assert.equal(made?.sloMs, Math.round(unlimited + 100));
  const [given] = await here(plan({ sloMs: 7 }));
  assert.equal(given?.sloMs, 7);
  assert.equal(given?.outcomes[0]?.sloHeld, false);
});

pure(
  "runArena() keeps the series of the first seed's best settings, if they are wanted",
  async () => {
    const [result] = await here(plan({ algorithms: ["k8s-cpu"], seeds: 2, keepSeries: true }));
    assert.deepEqual(result?.records.map(({ algorithm, seed }) => ({ algorithm, seed })), [
      { algorithm: "k8s-cpu", seed: 1 },
      { algorithm: "unlimited", seed: 1 },
    ]);
    assert.equal(result?.records[0]?.pods[0]?.limit.length, 60);
    const [without] = await here(plan());
    assert.deepEqual(without?.records, []);
  },
);

pure("runArena() reports how much is done, up to all of it", async () => {
  const shares: number[] = [];
  const tried = plan({ algorithms: ["mbcas", "ours", "oracle"], seeds: 2 });
  await runArena(tried, {
    player: playHere(tried.stages),
    onShare: (share) => void shares.push(share),
  });
  assert.ok(shares.every((share, index) => share > (shares[index - 1] ?? 0)));
  assert.ok(Math.abs((shares.at(-1) ?? 0) - 1) < 1e-9);
});

Deno.test("playInWorkers() says what went wrong in a worker", async () => {
  const player = playInWorkers([tinyStage()], 1);
  const contest = {
    stage: 0,
    seed: 1,
    entries: [{ algorithm: "no such algorithm", setting: "" }],
    keepSeries: false,
  };
  try {
    await assert.rejects(player.play([contest], () => {}), /Cannot play.*"no such algorithm"/s);
  } finally {
    player.close();
  }
});
