import assert from "node:assert/strict";
import { autoPolicy, outcomeOf } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const inMode = (mode: "Auto" | "Recommend" | "Disabled"): string =>
  outcomeOf({ policy: autoPolicy({}, { mode }) });

test("modeHolds() lets only Auto apply", () => {
  assert.equal(inMode("Auto"), "InPlace: app cpu 150m, app memory 96Mi");
  assert.match(inMode("Recommend"), /^ModeHolds RecommendOnly: /);
  assert.match(inMode("Disabled"), /^ModeHolds PolicyDisabled: /);
});
