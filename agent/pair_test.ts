import assert from "node:assert/strict";
import { pair } from "./pair.ts";

Deno.test({
  name: "pair() walks two lists together and refuses lists of different lengths",
  permissions: "none",
  fn() {
    assert.deepEqual(pair([1, 2], ["a", "b"]), [[1, "a"], [2, "b"]]);
    assert.deepEqual(pair([], []), []);
    assert.throws(() => pair([1], []), /one has 1 entries, one 0/);
  },
});
