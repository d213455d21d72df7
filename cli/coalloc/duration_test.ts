import assert from "node:assert/strict";
import { InvalidArgumentError } from "commander";
import { durationParser } from "./duration.ts";

Deno.test({
  name: "durationParser() reads units, takes a bare number for seconds and names the bounds",
  permissions: "none",
  fn() {
    const parse = durationParser({ leastMs: 500, mostMs: 60_000 });
    assert.equal(parse("2"), 2000);
    assert.equal(parse("1.5s"), 1500);
    assert.equal(parse("500ms"), 500);
    assert.equal(parse("1m"), 60_000);
    for (const text of ["web-1", "0", "61s", "", "-1s", "2 s"]) {
      assert.throws(() => parse(text), InvalidArgumentError, text);
    }
    assert.throws(() => parse("web-1"), /from 500ms to 1m/);
    const advised = durationParser({ leastMs: 500, mostMs: 60_000, remedy: "write --watch=2s" });
    assert.throws(() => advised("web-1"), /^InvalidArgumentError: Give .*; write --watch=2s$/);
  },
});
