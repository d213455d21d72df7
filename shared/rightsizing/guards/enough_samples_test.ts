import assert from "node:assert/strict";
import {
  autoPolicy,
  clampsOf,
  outcomeOf,
  recommendation,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const containers = [templateContainer(), templateContainer({ name: "log" })];

test("samplesLacking() tells of a container without enough beside others, and takes nothing out", () => {
  const facts = {
    containers,
    samples: new Map([["app", 10], ["log", 9]]),
    recommendations: [recommendation()],
  };
  assert.equal(outcomeOf(facts), "InPlace: app cpu 150m, app memory 96Mi");
  assert.deepEqual(clampsOf(facts), [
    "SamplesLacking InsufficientSamples: log has 9 of 10 samples",
  ]);
  assert.deepEqual(clampsOf({ samples: new Map([["app", 10]]) }), []);
  for (
    const hold of [{ policy: autoPolicy({}, { mode: "Recommend" }) }, { dryRun: true }] as const
  ) {
    assert.match(
      outcomeOf({ ...facts, ...hold }),
      / (RecommendOnly|DryRun): .*; InsufficientSamples: log has 9 of 10 samples$/,
    );
  }
});

test("samplesLacking() holds without a recommendation in each mode that looks, and names the samples of all containers", () => {
  const facts = { containers, samples: new Map([["app", 3]]), recommendations: [] };
  const lack = "SamplesLacking InsufficientSamples: " +
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
    /^SamplesLacking InsufficientSamples: .*recommendation$/,
  );
});
