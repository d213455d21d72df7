import assert from "node:assert/strict";
import { placedPod } from "../../tests/fixtures/placed_pods.ts";
import { leavesAtOnce, leavesInTurn } from "./leaving_pods.ts";
import type { PlacedPod } from "./placed_pod.ts";

function answers(changes: Partial<PlacedPod>): readonly boolean[] {
  const pod = placedPod("web-1", { createdAtMs: 1000, ...changes });
  return [leavesAtOnce(pod), leavesInTurn(pod)];
}

Deno.test("leavesAtOnce() and leavesInTurn() part what is gone in a moment from what is drained", () => {
  const departs = "taint x";
  assert.deepEqual(answers({}), [false, false]);
  assert.deepEqual(answers({ gone: true }), [false, false]);
  assert.deepEqual(answers({ gone: true, departs }), [true, false]);
  assert.deepEqual(answers({ gone: true, departs, drained: true }), [false, true]);
});

Deno.test("leavesAtOnce() and leavesInTurn() leave pods that were made after the sign was seen", () => {
  const facts = { gone: true, departs: "taint x" };
  // It was made in the second from 1000 on, and nobody knows when in it.
  for (const [departsSinceMs, leaves] of [[999, false], [1999, false], [2000, true]] as const) {
    assert.deepEqual(answers({ ...facts, departsSinceMs }), [leaves, false]);
    assert.deepEqual(answers({ ...facts, departsSinceMs, drained: true }), [false, leaves]);
  }
});
