import assert from "node:assert/strict";
import { enforcementInput } from "../../../tests/fixtures/enforcement_input.ts";
import { oscillates, resizedJustNow } from "./resized_lately.ts";

const permissions = "none" as const;

Deno.test({
  name: "resizedJustNow() and oscillates() hold for what is left, and for nothing else",
  permissions,
  fn() {
    for (const check of [oscillates, resizedJustNow]) {
      assert.equal(check(enforcementInput()), undefined);
      const held = check(enforcementInput({ restMs: 300, oscillatingMs: 300 }));
      assert.ok(held?.verdict === "hold");
      assert.equal(held.retryAfterMs, 300);
    }
    assert.equal(oscillates(enforcementInput({ restMs: 300 })), undefined);
    assert.equal(resizedJustNow(enforcementInput({ oscillatingMs: 300 })), undefined);
  },
});
