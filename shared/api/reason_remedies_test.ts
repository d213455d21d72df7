import assert from "node:assert/strict";
import { ENFORCEMENT_REASONS, MARKET_REASONS } from "./reason.ts";
import { REASON_REMEDIES, remedyFor } from "./reason_remedies.ts";

Deno.test({
  name: "REASON_REMEDIES has an entry for each reason word and no other",
  permissions: "none",
  fn() {
    const words = [...Object.keys(MARKET_REASONS), ...Object.keys(ENFORCEMENT_REASONS)];
    assert.deepEqual(Object.keys(REASON_REMEDIES).sort(), words.sort());
    for (const sentence of Object.values(REASON_REMEDIES)) assert.doesNotMatch(sentence, /\.$/);
  },
});

Deno.test({
  name: "remedyFor() says nothing where there is nothing to do",
  permissions: "none",
  fn() {
    assert.equal(remedyFor("Applied"), undefined);
    assert.equal(remedyFor("WordOfALaterVersion"), undefined);
    assert.match(remedyFor("QuotaExceeded") ?? "", /ResourceQuota/);
  },
});
