import assert from "node:assert/strict";

import { MUTANTS, mutate } from "./mutants.ts";

Deno.test("each mutant stands at one place of the sources", async () => {
  for (const mutant of MUTANTS) {
    const source = await Deno.readTextFile(new URL(`../../${mutant.file}`, import.meta.url));
    assert.notEqual(mutate(source, mutant), source, mutant.name);
  }
});

Deno.test("at least 40 mutants, half of them with stale views", () => {
  const stale = MUTANTS.filter(({ kind }) => kind === "stale").length;
  assert.ok(MUTANTS.length >= 40, `${MUTANTS.length}`);
  assert.ok(stale / MUTANTS.length >= 0.4, `${stale}`);
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
});

Deno.test("docs/reliability.md says of each mutant what found it", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/reliability.md", import.meta.url),
  );
  const rows = [...page.matchAll(/^\| (.+?) +\| (stale|crash|missed|rule) +\|/gm)];
  assert.deepEqual(
    rows.map(([, name, kind]) => `${kind}: ${name}`),
    MUTANTS.map(({ name, kind }) => `${kind}: ${name}`),
  );
});
