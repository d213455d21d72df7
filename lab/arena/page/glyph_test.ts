import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { glyphPoints, glyphSymbol } from "./glyph.ts";

pure("glyphSymbol() draws the corners that glyphPoints() gives a legend", () => {
  const drawn: string[] = [];
  const add = (x: number, y: number) =>
    void drawn.push([x, y].map((value) => Number(value.toFixed(1))).join(","));
  const pen = { moveTo: add, lineTo: add, closePath: () => void drawn.push("closed") };
  glyphSymbol("diamond").draw(pen as never, Math.PI * 100);
  assert.equal(drawn.pop(), "closed");
  assert.equal(drawn.length, 4);
  assert.equal(drawn.join(" "), glyphPoints("diamond", 10));
  assert.match(glyphPoints("diamond", 10), /^-?0,-13 /);
});
