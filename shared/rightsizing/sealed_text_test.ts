import assert from "node:assert/strict";
import { sealText, unsealText } from "./sealed_text.ts";

const open = (text: string, version: number): string => unsealText(text, { version, what: "note" });

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const BODIES = ["", "a", "1:2", '{"name":"größer"}', "x".repeat(1000)];

test("unsealText() gives what was sealed", () => {
  for (const body of BODIES) assert.equal(open(sealText(body, 3), 3), body);
});

test("unsealText() tells a text of another version, and one without", () => {
  assert.throws(() => open(sealText("a", 2), 1), /^SyntaxError: .*note: .*version .*2, .*1$/);
  assert.throws(() => open("", 1), SyntaxError);
  assert.throws(() => open("a", 1), /^SyntaxError: .*note: .*version$/);
});

test("unsealText() tells a text that was cut, grew or has another character", () => {
  for (const body of BODIES) {
    const text = sealText(body, 1);
    for (const length of [0, 2, text.length - 7, text.length - 1]) {
      assert.throws(() => open(text.slice(0, length), 1), SyntaxError, `${length}`);
    }
    assert.throws(() => open(`${text}A`, 1), /check sum/);
    const at = text.length >> 1;
    const other = text[at] === "b" ? "c" : "b";
    assert.throws(() => open(text.slice(0, at) + other + text.slice(at + 1), 1), SyntaxError);
  }
});

test("unsealText() looks at no text that is longer than a ConfigMap may be", () => {
  assert.throws(() => open(sealText("a".repeat(2 ** 20), 1), 1), /1048584.* 1048576/);
});
