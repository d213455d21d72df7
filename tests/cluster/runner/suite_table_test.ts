import assert from "node:assert/strict";
import { rotationOf, ROTATIONS, SUITE_TABLE } from "./suite_table.ts";

const FOLDER = new URL("../", import.meta.url);

Deno.test("SUITE_TABLE names each test file once", () => {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
    .filter((name) => name.endsWith("_test.ts")).toSorted();
  assert.deepEqual(SUITE_TABLE.map(({ name }) => `${name}_test.ts`).toSorted(), files);
});

Deno.test("SUITE_TABLE has a core and all rotations", () => {
  const layers = new Set(SUITE_TABLE.map(({ layer }) => layer));
  assert.deepEqual([...layers], ["core", 1, 2, 3, 4]);
  assert.equal(layers.size, 1 + ROTATIONS);
});

Deno.test("rotationOf() takes the first eight digits of the hash modulo the rotations", () => {
  const hashes = ["00000000", "00000005ffff", "ffffffff0000", "e68c623ab"];
  assert.deepEqual(hashes.map(rotationOf), [1, 2, 4, 3]);
  assert.throws(() => rotationOf("HEAD"), { name: "RangeError", message: /HEAD/ });
});
