import assert from "node:assert/strict";
import { decideRightsizing } from "./decide_rightsizing.ts";
import {
  NOW_MS,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("lastDenialHolds() holds in the engine's words until it may be asked again", () => {
  const denial = {
    message: "policy cost-guard: no more memory",
    recommendations: [recommendation()],
    retryAtMs: NOW_MS + 60_000,
  };
  const decision = decideRightsizing(rightsizingFacts({ denial }));
  assert.ok(decision.outcome === "hold");
  assert.deepEqual([decision.reason, decision.retryAfterMs], ["AdmissionDenied", 60_000]);
  assert.ok(decision.message.startsWith(denial.message), decision.message);
  assert.match(decision.message, /2027-01-15T08:01:00\.000Z$/);
  assert.match(outcomeOf({ denial: { ...denial, retryAtMs: NOW_MS } }), /^InPlace: /);
  // What differs by 10 % is another wish: 150 m and 96 Mi were denied.
  for (const [cpu, isHeld] of [[164, true], [165, false], [135, false], [136, true]] as const) {
    const outcome = outcomeOf({ denial, recommendations: [recommendation({ cpu })] });
    assert.equal(outcome.startsWith("LastDenialHolds "), isHeld, `${cpu}`);
  }
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  assert.match(outcomeOf({ denial, containers }), /^InPlace: /);
});
