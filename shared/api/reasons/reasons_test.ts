import assert from "node:assert/strict";
import type { Reason } from "./reason.ts";
import { REASON_LISTS, remedyFor, sentenceOf } from "./reasons.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("REASON_LISTS has the same meaning for a reason in each list, without a period", () => {
  const seen = new Map<string, Reason>();
  for (const list of Object.values(REASON_LISTS)) {
    for (const [name, reason] of Object.entries<Reason>(list)) {
      assert.match(name, /^[A-Z][A-Za-z]+$/);
      assert.match(reason.means, /[^.]$/);
      assert.match(reason.remedy, /^[a-z].*[^.]$/i);
      assert.equal(seen.get(name) ?? reason, reason, name);
      seen.set(name, reason);
    }
  }
});

test("sentenceOf() and remedyFor() know the reasons of all lists", () => {
  assert.match(sentenceOf("PodNotReady"), /not Ready/);
  assert.match(remedyFor("Applied") ?? "", /^nothing: /);
  assert.equal(remedyFor("ReasonOfALaterVersion"), undefined);
  assert.match(remedyFor("QuotaExceeded") ?? "", /ResourceQuota/);
});
