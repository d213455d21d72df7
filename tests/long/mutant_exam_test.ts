import assert from "node:assert/strict";
import { examine } from "../../lab/bench/faults/mutant_exam.ts";
import { MUTANTS } from "../faults/mutants.ts";

Deno.test("examine() finds a planted bug with a run without faults", async () => {
  const mutants = MUTANTS.filter(({ name }) => name === "a deleted object stays in the copy");
  const plansFor = () => [{ seed: 1, idleCPU: "free", faults: [] }] as const;
  const root = new URL("../../", import.meta.url);
  const rows = await examine(mutants, { plansFor, root, onRow: () => {} });
  assert.deepEqual(rows.map(({ found, played }) => [found, played]), [[true, 1]]);
});
