import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../tests/fixtures/cases.ts";
import { cutToBytes } from "./cut_to_bytes.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

Deno.test({
  name: "cutToBytes() keeps what fits, and cuts the rest between characters",
  permissions: "none",
  fn() {
    assert.equal(cutToBytes("abc", 3), "abc");
    assert.equal(cutToBytes("abcdef", 5), "ab…");
    assert.equal(cutToBytes("×".repeat(600), 1024), "×".repeat(510) + "…");
    assert.equal(cutToBytes("a🐢🐢", 8), "a🐢…");
    assert.equal(cutToBytes("a🐢🐢", 9), "a🐢🐢");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 40 }), (text, spare) => {
        const cut = cutToBytes(text, spare + 3);
        assert.ok(bytes(cut) <= spare + 3);
        if (bytes(text) <= spare + 3) assert.equal(cut, text);
        else assert.ok(cut.endsWith("…") && text.startsWith(cut.slice(0, -1)));
      }),
      cases(5),
    );
  },
});
