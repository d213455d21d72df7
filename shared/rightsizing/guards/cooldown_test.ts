import assert from "node:assert/strict";
import { NOW_MS, outcomeOf, rightsizingFacts } from "../../../tests/fixtures/rightsizing_facts.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const MINUTE_MS = 60_000;

test("coolingDown() holds for the rest of the cooldown", () => {
  const at = (lastAppliedMs: number) => decideRightsizing(rightsizingFacts({ lastAppliedMs }));
  const decision = at(NOW_MS - 29 * MINUTE_MS);
  assert.ok(decision.outcome === "hold");
  assert.deepEqual([decision.reason, decision.retryAfterMs], ["Cooldown", MINUTE_MS]);
  assert.equal(at(NOW_MS - 30 * MINUTE_MS).outcome, "apply");
  assert.match(outcomeOf(), /^InPlace: /);
});

test("coolingDown() does not wait for a change in the future, after a clock was set back", () => {
  const decision = decideRightsizing(rightsizingFacts({ lastAppliedMs: NOW_MS + 1e9 }));
  assert.equal(decision.outcome, "apply");
});
