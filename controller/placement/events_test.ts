import assert from "node:assert/strict";
import { placedPod } from "../../tests/fixtures/placed_pods.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { PlacementResult } from "./reconcile.ts";
import type { PlacementEvent } from "./ports.ts";
import { createEventReporter } from "./events.ts";

const WEB = sampleWorkload();
const COUNTS = { spot: 1, "on-demand": 2 };

function pass(change: Partial<PlacementResult>): PlacementResult {
  return {
    next: { wait: "AsWished", message: "each replica is where it should be" },
    evictions: [],
    shortage: { unplaced: [] },
    replicas: { actual: COUNTS, desired: COUNTS, floor: 0, pendingMs: 0 },
    againInMs: Infinity,
    ...change,
  };
}

function stage() {
  const events: PlacementEvent[] = [];
  const told = createEventReporter({ emit: (event) => events.push(event) }, () => "web");
  return { told, reasons: () => events.splice(0).map(({ reason }) => reason) };
}

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("createToldPlacement() tells each fault once, and again when it has come back", () => {
  const { told, reasons } = stage();
  const fault = { reason: "ConfigurationError", message: "odd" } as const;
  told.leftAlone(WEB, fault);
  told.leftAlone(WEB, fault);
  assert.deepEqual(reasons(), ["ConfigurationError"]);
  told.leftAlone(WEB, { ...fault, message: "odder" });
  assert.deepEqual(reasons(), ["ConfigurationError"]);
  told.leftAlone(WEB, { reason: "PlacementOff", message: "" });
  assert.deepEqual(reasons(), []);
  told.leftAlone(WEB, fault);
  assert.deepEqual(reasons(), ["ConfigurationError"]);
});

pure("createToldPlacement() tells of a budget when it begins to block", () => {
  const { told, reasons } = stage();
  const blocked = pass({ next: { wait: "BlockedByPDB", message: "pod a: no" } });
  told.looked(WEB, blocked);
  told.looked(WEB, blocked);
  assert.deepEqual(reasons(), ["BlockedByPDB"]);
  told.looked(WEB, pass({}));
  told.looked(WEB, blocked);
  assert.deepEqual(reasons(), ["BlockedByPDB"]);
});

pure("createToldPlacement() tells in each fallback once that nobody seems to place pods", () => {
  const { told, reasons } = stage();
  const unplaced = [placedPod("a")];
  for (const rounds of [1, 2]) {
    const began = { sinceMs: 0, untilMs: rounds * 1000, rounds };
    // They will be made again: it may have been a moment without a leader.
    told.looked(WEB, pass({ shortage: { before: began, after: began, unplaced } }));
    const after = { ...began, remade: { atMs: 1, count: 1 } };
    told.looked(WEB, pass({ shortage: { before: after, after, unplaced: [] } }));
    assert.deepEqual(reasons(), []);
    told.looked(WEB, pass({ shortage: { before: after, after, unplaced } }));
    told.looked(WEB, pass({ shortage: { before: after, after, unplaced } }));
    assert.deepEqual(reasons(), ["SpotFallback"]);
  }
});

pure("createToldPlacement() tells once that an eviction was refused", () => {
  const { told, reasons } = stage();
  const answer = { is: "blocked", message: "no" } as const;
  const one = { pod: placedPod("a"), why: "to spot", answer };
  told.looked(WEB, pass({ evictions: [{ ...one, again: false }] }));
  told.looked(WEB, pass({ evictions: [{ ...one, again: true }] }));
  assert.deepEqual(reasons(), ["BlockedByPDB"]);
});

pure("createToldPlacement() tells moves that were made, and when they have come to an end", () => {
  const { told, reasons } = stage();
  const pod = placedPod("a");
  const next = { move: { pod, to: "spot" as const } };
  told.looked(WEB, pass({ next, evictions: [{ pod, why: "to spot" }] }));
  assert.deepEqual(reasons(), []);
  told.looked(WEB, pass({}));
  assert.deepEqual(reasons(), []);
  told.looked(WEB, pass({ next, evictions: [{ pod, why: "to spot", answer: { is: "evicted" } }] }));
  assert.deepEqual(reasons(), ["PodRescheduled"]);
  told.looked(WEB, pass({ next: { wait: "NotWhole", message: "" } }));
  assert.deepEqual(reasons(), []);
  told.looked(WEB, pass({}));
  told.looked(WEB, pass({}));
  assert.deepEqual(reasons(), ["ReconciliationSuccess"]);
});
