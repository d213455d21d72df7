import assert from "node:assert/strict";
import fc from "fast-check";
import { frozenCopy } from "./frozen_copy.ts";

const permissions = "none" as const;

Deno.test({
  name: "frozenCopy() is equal to its source and shares nothing that can change",
  permissions,
  fn() {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const before = JSON.stringify(value);
      const copy = frozenCopy(value);
      assert.equal(JSON.stringify(copy), before);
      const check = (part: unknown): void => {
        if (typeof part !== "object" || part === null) return;
        assert.ok(Object.isFrozen(part));
        Object.values(part).forEach(check);
      };
      check(copy);
    }));
  },
});

Deno.test({
  name: "frozenCopy() leaves its source free and out of members that are undefined",
  permissions,
  fn() {
    const source = { a: { b: 1 }, c: undefined };
    const copy = frozenCopy(source);
    source.a.b = 2;
    assert.deepEqual(copy, { a: { b: 1 } });
    assert.equal(frozenCopy({ ...copy, d: 1 }).a, copy.a);
  },
});
