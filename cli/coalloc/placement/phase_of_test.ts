import assert from "node:assert/strict";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import type { MoveWait, NextMove } from "../../../shared/placement/next_move.ts";
import { placedPod } from "../../../tests/fixtures/placement/placed_pods.ts";
import { phaseOf } from "./phase_of.ts";

const NOW = Date.UTC(2026, 0, 1);
const MOVE: NextMove = { move: { pod: placedPod("web-0"), to: "spot" } };

function wait(reason: MoveWait["wait"], untilMs?: number): MoveWait {
  return { wait: reason, message: "so", ...(untilMs === undefined ? {} : { untilMs }) };
}

Deno.test("phaseOf() names a phase for each reason, with its words and its end", () => {
  const phase = (next: NextMove) => phaseOf({ next, shortage: undefined, nowMs: NOW }).phase;
  const phases = {
    AsWished: "AsWished",
    PlacementPaused: "Paused",
    WindowClosed: "OutsideWindow",
    MoveCooldown: "Cooldown",
    EvictionRate: "Cooldown",
    NotWhole: "NotWhole",
    NoneEvictable: "Bound",
    BlockedByPDB: "BlockedByBudget",
  } as const;
  for (const [reason, expected] of Object.entries(phases)) {
    assert.equal(phase(wait(reason as MoveWait["wait"])), expected, reason);
  }
  assert.deepEqual(phaseOf({ next: MOVE, shortage: undefined, nowMs: NOW }), {
    phase: "Converging",
  });
  assert.deepEqual(
    phaseOf({ next: wait("MoveCooldown", NOW + 5000), shortage: undefined, nowMs: NOW }),
    {
      phase: "Cooldown",
      until: "2026-01-01T00:00:05.000Z",
      reason: "MoveCooldown",
      means: sentenceOf("MoveCooldown"),
      remedy: remedyFor("MoveCooldown"),
      message: "so",
    },
  );
});

Deno.test("phaseOf() reports a fallback whatever else holds, and the return from it", () => {
  const during = { untilMs: NOW + 60_000, rounds: 2 };
  const found = phaseOf({ next: wait("NotWhole"), shortage: during, nowMs: NOW });
  assert.deepEqual([found.phase, found.until, found.reason], [
    "Fallback",
    "2026-01-01T00:01:00.000Z",
    "SpotFallback",
  ]);
  assert.match(found.message ?? "", /^fallback 2 .*; so$/);
  const after = { untilMs: NOW, rounds: 2 };
  const phase = (next: NextMove) => phaseOf({ next, shortage: after, nowMs: NOW }).phase;
  assert.equal(phase(MOVE), "Returning");
  assert.equal(phase(wait("MoveCooldown", NOW + 1)), "Returning");
  assert.equal(phase(wait("NotWhole")), "Returning");
  // What holds it up is what matters.
  assert.equal(phase(wait("PlacementPaused")), "Paused");
  assert.equal(phase(wait("BlockedByPDB")), "BlockedByBudget");
});
