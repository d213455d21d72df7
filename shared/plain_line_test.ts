import assert from "node:assert/strict";
import { plainLine } from "./plain_line.ts";

Deno.test({
  name: "plainLine() leaves plain text, and nothing that a terminal or a YAML reader would obey",
  permissions: "none",
  fn() {
    assert.equal(plainLine("P90 × 1.2, größer „so“ 日本"), "P90 × 1.2, größer „so“ 日本");
    assert.equal(plainLine("a\nb\r\n  c\td\u2028e\u0085f"), "a b   c d e f");
    assert.equal(plainLine("\x1b[31mred\x1b[0m \u202eback\ud800"), "[31mred [0m  back");
  },
});
