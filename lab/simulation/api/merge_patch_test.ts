import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { mergePatch } from "./merge_patch.ts";

pure("mergePatch() gives the results of RFC 7386, appendix A", () => {
  for (
    const [target, patch, result] of [
      [{ a: "b" }, { a: "c" }, { a: "c" }],
      [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
      [{ a: "b" }, { a: null }, {}],
      [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
      [{ a: ["b"] }, { a: "c" }, { a: "c" }],
      [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
      [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
      [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
      [["a", "b"], ["c", "d"], ["c", "d"]],
      [{ a: "b" }, ["c"], ["c"]],
      [{ a: "foo" }, null, null],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: "b", c: null }, { a: "b" }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ]
  ) assert.deepEqual(mergePatch(target, patch), result);
});

pure("mergePatch() changes nothing the second time, and never its arguments", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
    const before = JSON.stringify([target, patch]);
    const once = mergePatch(target, patch);
    assert.deepEqual(mergePatch(once, patch), once);
    assert.equal(JSON.stringify([target, patch]), before);
  }));
});
