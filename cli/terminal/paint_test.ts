import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { paint, wantsColor } from "./paint.ts";

pure("paint() wraps text in escape sequences only with colour", () => {
  assert.equal(paint("7", "bold", { color: true }), "\x1b[1m7\x1b[0m");
  assert.equal(paint("7", "bold", {}), "7");
  assert.equal(paint("", "bold", { color: true }), "");
});

pure("wantsColor() respects NO_COLOR and output that is no terminal", () => {
  assert.equal(wantsColor({ isTerminal: true, noColor: undefined }), true);
  assert.equal(wantsColor({ isTerminal: true, noColor: "" }), true);
  assert.equal(wantsColor({ isTerminal: true, noColor: "0" }), false);
  assert.equal(wantsColor({ isTerminal: false, noColor: undefined }), false);
});
