import assert from "node:assert/strict";
import { autoPolicy, outcomeOf } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const inMode = (mode: "Auto" | "Recommend" | "Disabled"): string =>
  outcomeOf({ policy: autoPolicy({}, { mode }) });

test("modeHolds() lets only Auto apply", () => {
  assert.equal(inMode("Auto"), "InPlace: app cpu 150m, app memory 96Mi");
  assert.equal(inMode("Recommend"), "ModeHolds RecommendOnly: the policy's mode is Recommend");
  assert.equal(inMode("Disabled"), "ModeHolds PolicyDisabled: the policy's mode is Disabled");
});
