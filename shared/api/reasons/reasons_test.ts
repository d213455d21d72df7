import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Reason } from "./reason.ts";
import { REASON_LISTS, remedyFor, sentenceOf } from "./reasons.ts";

pure("REASON_LISTS has the same meaning for a reason in each list, without a period", () => {
  const seen = new Map<string, Reason>();
  for (const list of Object.values(REASON_LISTS)) {
    for (const [name, reason] of Object.entries<Reason>(list)) {
      assert.match(name, /^[A-Z][A-Za-z]+$/);
      assert.match(reason.means, /[^.]$/);
      assert.match(reason.remedy, /^[a-z].*[^.]$/i);
      // The product may be in another namespace.
      assert.doesNotMatch(reason.remedy, /mbcas-system/);
      assert.equal(seen.get(name) ?? reason, reason, name);
      seen.set(name, reason);
    }
  }
});

pure("sentenceOf() and remedyFor() know the reasons of all lists", () => {
  assert.match(sentenceOf("PodNotReady"), /not Ready/);
  assert.match(remedyFor("Applied") ?? "", /^nothing: /);
  assert.equal(remedyFor("ReasonOfALaterVersion"), undefined);
  assert.match(remedyFor("QuotaExceeded") ?? "", /ResourceQuota/);
});
