import assert from "node:assert/strict";
import {
  autoPolicy,
  outcomeOf,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const containers = [templateContainer(), templateContainer({ name: "log" })];

test("tooFewSamples() leaves out containers below the policy's minimum, and says have and need", () => {
  const few = new Map([["app", 10], ["log", 9]]);
  assert.equal(
    outcomeOf({ containers, samples: few }),
    "InPlace: app cpu 150m, app memory 96Mi",
  );
  assert.match(outcomeOf({ samples: new Map([["app", 10]]) }), /^InPlace: /);
  assert.equal(
    outcomeOf({ samples: new Map([["app", 9]]) }),
    "TooFewSamples InsufficientSamples: app has 9 of 10 samples",
  );
});

test("nothingRecommended() holds in each mode that looks, and names the samples of all containers", () => {
  const facts = { containers, samples: new Map([["app", 3]]), recommendations: [] };
  const lack = "NothingRecommended InsufficientSamples: " +
    "app has 3 of 10 samples; log has 0 of 10 samples";
  assert.equal(outcomeOf(facts), lack);
  assert.equal(outcomeOf({ ...facts, policy: autoPolicy({}, { mode: "Recommend" }) }), lack);
  assert.equal(outcomeOf({ ...facts, dryRun: true }), lack);
  assert.match(
    outcomeOf({ ...facts, policy: autoPolicy({}, { mode: "Disabled" }) }),
    /^ModeHolds /,
  );
  assert.match(
    outcomeOf({ recommendations: [] }),
    /InsufficientSamples: there is no recommendation/,
  );
});
