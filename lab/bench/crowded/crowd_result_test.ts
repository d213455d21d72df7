import assert from "node:assert/strict";
import { readCrowdResult, writeCrowdResult } from "./crowd_result.ts";
import { EXAMPLE } from "./example_result.ts";

Deno.test("readCrowdResult() finds the run of an algorithm, a seed and a length, and no other", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await writeCrowdResult(folder, EXAMPLE);
    const key = { folder, law: "with", seed: 1, seconds: 60 } as const;
    assert.deepEqual(await readCrowdResult(key), EXAMPLE);
    assert.equal(await readCrowdResult({ ...key, law: "without" }), undefined);
    assert.equal(await readCrowdResult({ ...key, seed: 2 }), undefined);
    await Deno.writeTextFile(`${folder}/without-seed1-60s.json`, "{}");
    await assert.rejects(readCrowdResult({ ...key, law: "without" }), { name: "SyntaxError" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
