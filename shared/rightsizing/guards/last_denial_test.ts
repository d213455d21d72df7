import assert from "node:assert/strict";
import { decideRightsizing } from "./decide_rightsizing.ts";
import { NOW_MS, outcomeOf, rightsizingFacts } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("lastDenialHolds() holds in the engine's words until it may be asked again", () => {
  const denial = { message: "policy cost-guard: no more memory", retryAtMs: NOW_MS + 60_000 };
  const decision = decideRightsizing(rightsizingFacts({ denial }));
  assert.equal(decision.outcome, "hold");
  if (decision.outcome !== "hold") return;
  assert.deepEqual([decision.reason, decision.message, decision.retryAfterMs], [
    "AdmissionDenied",
    "policy cost-guard: no more memory",
    60_000,
  ]);
  assert.match(outcomeOf({ denial: { ...denial, retryAtMs: NOW_MS } }), /^InPlace: /);
});
