import assert from "node:assert/strict";
import fc from "fast-check";
import { quotedText } from "./quoted_text.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("quotedText() quotes plain text as it is", () => {
  for (const text of ["", "maybe", "2 cores", "0.5x,30s", "größer", "１", "🐢", "→"]) {
    assert.equal(quotedText(text), `"${text}"`);
  }
});

test("quotedText() escapes what can't be seen", () => {
  assert.equal(quotedText('a"b\\c'), '"a\\"b\\\\c"');
  assert.equal(quotedText("a\n\tb\r"), '"a\\n\\tb\\r"');
  assert.equal(quotedText("\u0000\u001b[31m"), '"\\u{0}\\u{1b}[31m"');
  assert.equal(quotedText("1\u00a0000"), '"1\\u{a0}000"');
  assert.equal(quotedText("\u202eabc\u200b"), '"\\u{202e}abc\\u{200b}"');
  assert.equal(quotedText("\ud83d"), '"\\u{d83d}"');
  assert.equal(quotedText("\u2028"), '"\\u{2028}"');
});

test("quotedText() cuts long text between characters, and says how long it is", () => {
  assert.equal(quotedText("abcdef", { most: 3 }), '"abc…" (6 characters)');
  assert.equal(quotedText("🐢🐢", { most: 1 }), '"🐢…" (4 characters)');
  assert.equal(quotedText("a".repeat(64)), `"${"a".repeat(64)}"`);
  assert.equal(quotedText("a".repeat(200_000)), `"${"a".repeat(64)}…" (200000 characters)`);
});

test("quotedText() is one short line of visible characters, whatever the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const quoted = quotedText(text);
      assert.ok(quoted.length <= 64 * 10 + 30, quoted);
      assert.match(quoted, /^"[^\p{C}\p{Zl}\p{Zp}]*"( \(\d+ characters\))?$/u);
      assert.ok(quoted.isWellFormed());
    }),
  );
});
