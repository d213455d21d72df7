import assert from "node:assert/strict";
import { samplePod } from "../../../tests/contract/sample_objects.ts";
import { placedPod } from "../../../tests/fixtures/placed_pods.ts";
import { shownPods } from "./shown_pods.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

Deno.test("shownPods() says of each pod where it is and what keeps it there", () => {
  const placed = [
    placedPod("web-10", {
      bound: "its affinity allows no spot node",
      budget: "budget web allows no disruption",
    }),
    placedPod("web-9", { cordoned: true, ready: false }),
    placedPod("new", { class: "spot", scheduled: false, ready: false }),
    placedPod("late", { class: "spot", scheduled: false, ready: false, unschedulableSinceMs: NOW }),
    placedPod("dying", { gone: true, departs: "taint x" }),
    placedPod("gone", { gone: true }),
  ];
  const sample = samplePod("web-9");
  const pods = [{ ...sample, metadata: { ...sample.metadata, uid: "uid-web-9" } }];
  const shown = shownPods(placed, { pods, nodesKnown: true, nowMs: NOW });
  assert.deepEqual(shown.map(({ name, node, notes }) => [name, node, ...notes]), [
    ["late", "", "finds no node since 12:00:00Z"],
    ["new", "", "has no node yet"],
    ["dying", "", "its node is about to go (taint x)"],
    ["web-9", "node-1", "not Ready", "its node is cordoned"],
    ["web-10", "", "stays: its affinity allows no spot node", "budget web allows no disruption"],
  ]);
  const unseen = shownPods(placed, { pods, nodesKnown: false, nowMs: NOW });
  // What a pod was made for is known all the same.
  assert.deepEqual(unseen.map(({ class: one }) => one), [
    "spot",
    "spot",
    undefined,
    undefined,
    undefined,
  ]);
});
