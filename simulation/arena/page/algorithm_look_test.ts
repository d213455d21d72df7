import assert from "node:assert/strict";
import { outcome, stageResult } from "../../../tests/fixtures/arena_outcomes.ts";
import { algorithmNames, ORACLE, OURS } from "../entry.ts";
import { algorithmLooks, entryName } from "./algorithm_look.ts";
import { algorithmNote } from "./algorithm_notes.ts";

Deno.test({
  name:
    "algorithmLooks() tells every law by its colour and by its shape, and algorithmNote() says what it does",
  permissions: "none",
  fn() {
    const laws = algorithmNames();
    const lookOf = algorithmLooks([stageResult(laws.map((law) => outcome({ law })))]);
    assert.equal(new Set(laws.map((law) => lookOf(law).color)).size, laws.length);
    assert.equal(new Set(laws.map((law) => lookOf(law).glyph)).size, laws.length);
    assert.deepEqual(laws.filter((law) => algorithmNote(law) === undefined), []);
  },
});

Deno.test({
  name: "entryName() leaves out a setting that says nothing",
  permissions: "none",
  fn() {
    assert.equal(entryName(OURS), "ours");
    assert.equal(entryName(ORACLE), "oracle");
    assert.equal(entryName({ law: "captain", setting: "target 0.1" }), "captain, target 0.1");
  },
});
