import assert from "node:assert/strict";
import {
  type FactsChoice,
  MI,
  NOW_MS,
  outcomeOf,
  recommendation,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import { autoPolicy } from "../../../tests/fixtures/rightsizing_facts.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HOUR_MS = 3_600_000;

/** The template says 100 m and 64 Mi of `app`: more CPU is recommended, and less memory. */
function edited(hoursAgo: number, choice: FactsChoice = {}): FactsChoice {
  const editedAtMs = { cpu: NOW_MS - hoursAgo * HOUR_MS, memory: NOW_MS - hoursAgo * HOUR_MS };
  return {
    recommendations: [recommendation({ memory: 32 * MI })],
    remembered: [{ container: "app", author: {}, editedAtMs }],
    ...choice,
  };
}

test("recentlyEdited() lets nothing be lowered of what was seen before the author's edit", () => {
  assert.equal(outcomeOf(edited(1)), "InPlace: app cpu 150m");
  assert.equal(outcomeOf(edited(23.9)), "InPlace: app cpu 150m");
  assert.equal(outcomeOf(edited(24)), "InPlace: app cpu 150m, app memory 32Mi");
  const less = [recommendation({ cpu: 50, memory: 32 * MI })];
  assert.match(
    outcomeOf(edited(1, { recommendations: less })),
    /^RecentlyEdited RecentlyEdited: app cpu to 50m: the template has other cpu values since /,
  );
});

test("recentlyEdited() says that pods from before may be there", () => {
  const recommendations = [recommendation({ cpu: 50, memory: 32 * MI })];
  const remembered = [{
    container: "app",
    author: {},
    editedAtMs: { cpu: NOW_MS },
    oldBeforeMs: { cpu: NOW_MS - 48 * HOUR_MS },
  }];
  const words =
    "app cpu to 50m: the template has other cpu values than pods from before may have, " +
    `nothing of them is lowered before ${new Date(NOW_MS + 24 * HOUR_MS).toISOString()}`;
  const { clamps } = decideRightsizing(rightsizingFacts({ recommendations, remembered }));
  assert.deepEqual(clamps.map(({ message }) => message), [words]);
});

test("recentlyEdited() waits for the cooldown, too, and by whatever method", () => {
  const strategy = { cooldownMs: 48 * HOUR_MS, allowInPlaceResize: false, allowRecreate: true };
  const policy = autoPolicy(strategy);
  assert.equal(outcomeOf(edited(25, { policy })), "Recreate: app cpu 150m");
  assert.equal(outcomeOf(edited(48, { policy })), "Recreate: app cpu 150m, app memory 32Mi");
});

test("recentlyEdited() has nothing against what nobody has edited", () => {
  const remembered = [{ container: "app", author: {}, editedAtMs: { cpu: NOW_MS } }];
  assert.equal(outcomeOf(edited(1, { remembered })), "InPlace: app cpu 150m, app memory 32Mi");
});
