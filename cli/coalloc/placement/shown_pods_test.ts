import assert from "node:assert/strict";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { placedPod } from "../../../tests/fixtures/placement/placed_pods.ts";
import { shownPods } from "./shown_pods.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

Deno.test("shownPods() says of each pod where it is and what keeps it there", () => {
  const placed = [
    placedPod("web-10", {
      pinned: "its affinity allows no spot node",
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
  assert.deepEqual(shown.map(({ name, node, notes }) => [name, node, notes.length]), [
    ["late", "", 1],
    ["new", "", 1],
    ["dying", "", 1],
    ["web-9", "node-1", 2],
    ["web-10", "", 2],
  ]);
  assert.match(shown[0]?.notes[0] ?? "", /no node since 12:00:00Z$/);
  assert.match(shown[1]?.notes[0] ?? "", /no node yet$/);
  assert.match(shown[2]?.notes[0] ?? "", / to go \(taint x\)$/);
  assert.match(shown[3]?.notes.join() ?? "", /^not Ready,.*cordoned$/);
  assert.match(
    shown[4]?.notes.join() ?? "",
    /^stays: its affinity .* spot node,budget web .* disruption$/,
  );
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
