import assert from "node:assert/strict";
import { placeOf, resolveImport } from "./place.ts";

const root = new URL("../../", import.meta.url);

Deno.test("placeOf() gives the same place for a relative, an absolute and a URL name", () => {
  const expected = { path: "shared/a.ts", area: "shared", test: false, main: false };
  assert.deepEqual(placeOf("shared/a.ts"), expected);
  assert.deepEqual(placeOf("./shared/a.ts"), expected);
  assert.deepEqual(placeOf(`${root.pathname}shared/a.ts`), expected);
  assert.deepEqual(placeOf(`${root}shared/a.ts`), expected);
});

Deno.test("placeOf() distinguishes tests and programs' entries from the rest", () => {
  assert.equal(placeOf("shared/a_test.ts").test, true);
  assert.equal(placeOf("tests/contract/clock.ts").test, true);
  assert.equal(placeOf("shared/contest.ts").test, false);
  assert.equal(placeOf("agent/main.ts").main, true);
  assert.equal(placeOf("agent/domain.ts").main, false);
});

Deno.test("placeOf() gives a file at the root the empty area", () => {
  assert.equal(placeOf("main.ts").area, "");
});

Deno.test("resolveImport() follows dots up and down", () => {
  assert.equal(resolveImport("agent/ports.ts", "../shared/api/pod.ts"), "shared/api/pod.ts");
  assert.equal(resolveImport("agent/ports.ts", "./config.ts"), "agent/config.ts");
});
