import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { outcome, stageResult } from "../../../tests/fixtures/lab/arena_outcomes.ts";
import { algorithmNames, ORACLE, OURS } from "../outcome.ts";
import { algorithmLooks, entryName } from "./algorithm_look.ts";
import { algorithmNote } from "./algorithm_notes.ts";

pure(
  "algorithmLooks() distinguishes every algorithm by its colour and by its shape, and algorithmNote() says what it does",
  () => {
    const algorithms = algorithmNames();
    const lookOf = algorithmLooks([
      stageResult(algorithms.map((algorithm) => outcome({ algorithm }))),
    ]);
    assert.equal(
      new Set(algorithms.map((algorithm) => lookOf(algorithm).color)).size,
      algorithms.length,
    );
    assert.equal(
      new Set(algorithms.map((algorithm) => lookOf(algorithm).glyph)).size,
      algorithms.length,
    );
    assert.deepEqual(algorithms.filter((algorithm) => algorithmNote(algorithm) === undefined), []);
  },
);

pure("entryName() leaves out a setting that says nothing", () => {
  assert.equal(entryName(OURS), "ours");
  assert.equal(entryName(ORACLE), "oracle");
  assert.equal(entryName({ algorithm: "captain", setting: "target 0.1" }), "captain, target 0.1");
});
