import assert from "node:assert/strict";
import {
  MI,
  outcomeOf,
  recommendation,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import type { FactsChoice } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const BY_ROLLOUT = { allowInPlaceResize: false, allowRecreate: true };
/** What was recommended was written; the template says 100 m and 64 Mi. */
const TAKEN: FactsChoice = {
  strategy: BY_ROLLOUT,
  recreated: new Map([["app", { requestCPU: 150, requestMemory: 96 * MI }]]),
};

test("takenBack() holds what was written into the template and is not there any more", () => {
  assert.equal(
    outcomeOf(TAKEN),
    "TakenBack TakenBack: app cpu 150m was written into the template and is not there any more; " +
      "app memory 96Mi was written into the template and is not there any more",
  );
  const hardly = [recommendation({ cpu: 160, memory: 90 * MI })];
  assert.match(outcomeOf({ ...TAKEN, recommendations: hardly }), /^TakenBack /);
});

test("takenBack() lets a recommendation be tried that differs enough from what was written", () => {
  const recommendations = [recommendation({ cpu: 200 })];
  assert.equal(outcomeOf({ ...TAKEN, recommendations }), "Recreate: app cpu 200m");
});

test("takenBack() has nothing against values that stand, that were never written, or that pods get in place", () => {
  const standing = [templateContainer({ requestCPU: 150, requestMemory: 96 * MI, limitCPU: 300 })];
  const more = [recommendation({ cpu: 170, memory: 120 * MI })];
  assert.match(
    outcomeOf({ ...TAKEN, containers: standing, recommendations: more }),
    /^Recreate: app cpu 170m, app memory 120Mi/,
  );
  assert.match(outcomeOf({ strategy: BY_ROLLOUT }), /^Recreate: /);
  assert.match(outcomeOf({ ...TAKEN, strategy: {} }), /^InPlace: /);
});
