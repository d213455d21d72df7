import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { paint, printableText, textLines, wantsColor, writeWhole } from "./terminal_text.ts";

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

pure("writeWhole() goes on where a write has taken only a part", () => {
  const taken: number[] = [];
  const sink = {
    writeSync(bytes: Uint8Array): number {
      const part = bytes.subarray(0, 3);
      taken.push(...part);
      return part.length;
    },
  };
  writeWhole("200m → 450m\n", sink);
  assert.equal(new TextDecoder().decode(new Uint8Array(taken)), "200m → 450m\n");
  taken.length = 0;
  writeWhole("", sink);
  assert.deepEqual(taken, []);
});
