import assert from "node:assert/strict";
import { outcomeOf } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("dryRunHolds() holds all that would be applied, and nothing when it is off", () => {
  assert.match(outcomeOf({ dryRun: true }), /^DryRunHolds DryRun: /);
  assert.match(outcomeOf({ dryRun: false }), /^InPlace: /);
});
