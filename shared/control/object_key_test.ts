import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { isAtLeast } from "./object_key.ts";

pure("isAtLeast() compares decimal versions of any length as numbers", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 40n }),
      fc.bigInt({ min: 1n, max: 10n ** 40n }),
      (a, b) => {
        assert.equal(isAtLeast(`${a}`, `${b}`), a >= b);
      },
    ),
  );
  assert.equal(isAtLeast("100", "99"), true);
  assert.equal(isAtLeast("99", "100"), false);
});

pure("isAtLeast() knows of other versions only whether they are the same", () => {
  assert.equal(isAtLeast("v2", "v2"), true);
  assert.equal(isAtLeast("v2", "v1"), undefined);
  assert.equal(isAtLeast("07", "6"), undefined);
  assert.equal(isAtLeast("7", ""), undefined);
});
