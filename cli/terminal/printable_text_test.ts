import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { paint } from "./paint.ts";
import { printableText, textLines } from "./printable_text.ts";

pure(
  "printableText() keeps text, lines and our own colours, and drops what a terminal obeys",
  () => {
    const text = "P90 × 1.2\t„so“ 日本 ██▒ a→b\n";
    const red = paint("red", "red", { color: true });
    assert.equal(printableText(text + red, { color: true }), text + red);
    assert.equal(printableText(red, { color: false }), " red ");
    for (const color of [false, true]) {
      assert.equal(
        printableText("\x1b[2Ja\x9b1mb\r\x07c\u202ed\ud800e\u2028", { color }),
        " [2Ja 1mb  c d e ",
      );
      // Conceal, blink and what is no colour of ours.
      for (const one of ["\x1b[8m", "\x1b[5m", "\x1b[1;8m", "\x1b[38;5;1m", "\x1b[01m"]) {
        assert.equal(printableText(one, { color }), one.replace("\x1b", " "));
      }
    }
  },
);

pure("textLines() ends each line once, whatever is in it", () => {
  assert.equal(textLines(["a\r\nb", "c\u2028\u0085d", ""]), "a b\nc d\n\n");
  assert.equal(textLines([]), "");
});
