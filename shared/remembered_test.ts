import assert from "node:assert/strict";
import { remembered } from "./remembered.ts";

function scene(most: number) {
  const worked: string[] = [];
  const ask = remembered((text) => {
    worked.push(text);
    if (text === "bad") throw new SyntaxError("Cannot read it");
    return { text };
  }, { most });
  return { worked, ask };
}

Deno.test("remembered() works each text out once", () => {
  const { worked, ask } = scene(3);
  const first = ask("a");
  assert.equal(ask("a"), first);
  assert.deepEqual(ask("b"), { text: "b" });
  assert.deepEqual(worked, ["a", "b"]);
});

Deno.test("remembered() forgets the one that was asked for the longest ago", () => {
  const { worked, ask } = scene(2);
  for (const text of ["a", "b", "a", "c", "a", "b"]) ask(text);
  assert.deepEqual(worked, ["a", "b", "c", "b"]);
});

Deno.test("remembered() asks again about what could not be worked out", () => {
  const { worked, ask } = scene(2);
  for (let times = 0; times < 2; times++) assert.throws(() => ask("bad"), SyntaxError);
  assert.deepEqual(worked, ["bad", "bad"]);
});
