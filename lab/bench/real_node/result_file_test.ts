import assert from "node:assert/strict";
import { type AlgorithmResult, readResult, writeResult } from "./result_file.ts";

const RESULT: AlgorithmResult = {
  algorithm: "ours",
  seed: 1,
  minutes: 2,
  load: 560,
  cores: 2,
  at: "2026-01-01T00:00:00.000Z",
  kernel: "6.18",
  othersCores: 0.3,
  figures: {
    bursts: 4,
    burstsMet: 4,
    burstsMissed: 0,
    throttledMsPerS: 1,
    changesPerPodMinute: 0,
    p50Ms: 8,
    p99Ms: 40,
    completed: 100,
    coresAllocated: 1,
    coresUsed: 0.5,
  },
  services: [],
  changes: [{ atS: 1, pod: "a", from: 100, to: 200 }],
};

Deno.test("readResult() finds the result of an algorithm, a seed, a length and a load, and no other", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await writeResult(folder, RESULT);
    const key = { folder, algorithm: "ours", seed: 1, minutes: 2, load: 560 } as const;
    assert.deepEqual(await readResult(key), RESULT);
    assert.equal(await readResult({ ...key, algorithm: "vpa" }), undefined);
    assert.equal(await readResult({ ...key, load: 400 }), undefined);
    await Deno.writeTextFile(`${folder}/vpa-seed1-560m-2min.json`, "{}");
    await assert.rejects(readResult({ ...key, algorithm: "vpa" }), { name: "SyntaxError" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
