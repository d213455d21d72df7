import assert from "node:assert/strict";
import type { ResizeRequest } from "./pending_decreases.ts";
import { turnFor } from "./resize_turns.ts";

Deno.test({
  name: "turnFor() puts restores first, what raises wait for next, and drops small decreases only",
  permissions: "none",
  fn() {
    const change = (
      reason: ResizeRequest["reason"],
      net: number,
      restoring = false,
    ): ResizeRequest => ({
      restoring,
      reason,
      net,
      total: 1000,
    });
    const table: readonly (readonly [ResizeRequest, ReturnType<typeof turnFor>])[] = [
      [change("OptedOut", -500, true), { urgency: 0 }],
      [change("AgentSilent", 500, true), { urgency: 0 }],
      [change("FundsRaise", -300), { urgency: 1 }],
      [change("NodeCongested", -20), { urgency: 1 }],
      [change("CeilingFell", -20), { urgency: 1 }],
      [change("Throttled", 300), { urgency: 2 }],
      [change("StartupBoost", 300), { urgency: 2 }],
      [change("DemandRose", 300), { urgency: 3 }],
      [change("FirstClearing", 300), { urgency: 3 }],
      [change("CPUFree", 300), { urgency: 4, droppable: false }],
      [change("DemandFell", -249), { urgency: 4, droppable: true }],
      [change("DemandFell", -250), { urgency: 4, droppable: false }],
    ];
    for (const [one, turn] of table) assert.deepEqual(turnFor(one), turn, one.reason);
  },
});
