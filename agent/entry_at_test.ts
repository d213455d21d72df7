import assert from "node:assert/strict";
import { entryAt } from "./entry_at.ts";

Deno.test({
  name: "entryAt() gives what is there, and refuses what is not",
  permissions: "none",
  fn() {
    assert.equal(entryAt([0, ""], 0), 0);
    assert.equal(entryAt([0, ""], 1), "");
    assert.throws(() => entryAt(["a"], 1), /entry 1: the list has 1 entries/);
  },
});
