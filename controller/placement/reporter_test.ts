import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { readStatus } from "../../shared/placement/status.ts";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import type { PlacementObserver } from "./ports.ts";
import type { PlacementResult } from "./reconcile.ts";
import { createPlacementReporter } from "./reporter.ts";

const WEB = { kind: "Deployment", namespace: "shop", name: "web", uid: "u1" } as const;
const COUNTS = { spot: 1, "on-demand": 2 };
const POD = placedPod("web-1");

function stage(observer?: PlacementObserver) {
  const events: string[] = [];
  const emit = ({ type, reason, message }: Record<"type" | "reason" | "message", string>) =>
    void events.push(`${type} ${reason}: ${message}`);
  const reporter = createPlacementReporter({ events: { emit }, observer, log: silentLog });
  return {
    reporter,
    /** The events after these results. */
    eventsAfter(...changes: readonly Partial<PlacementResult>[]): readonly string[] {
      for (const change of changes) {
        reporter.reconciled(WEB, {
          decision: { wait: "AsSpecified", message: "" },
          evictions: [],
          shortage: { unplaced: [] },
          replicas: { actual: COUNTS, desired: COUNTS, floor: 0, pendingMs: 0 },
          status: readStatus(""),
          requeueAfterMs: Infinity,
          ...change,
        }, 1);
      }
      return events.splice(0);
    },
  };
}

/** The result of a reconcile that sent an eviction; without an answer it is a dry run. */
function sent(is?: EvictionAnswer["is"], again = false): Partial<PlacementResult> {
  const answer = is === undefined ? {} : { answer: { is, message: "no" } };
  return { evictions: [{ pod: POD, why: "to spot", again, ...answer }] };
}

pure("createPlacementReporter() reports each fault once, and again when it comes back", () => {
  const { reporter, eventsAfter } = stage();
  const rows = [["odd", 1], ["odd", 0], ["odder", 1], ["", 0], ["odder", 1]] as const;
  for (const [message, count] of rows) {
    const reason = message === "" ? "PlacementOff" : "ConfigurationError";
    reporter.ineligible(WEB, { reason, message }, 1);
    const expected = Array(count).fill(`Warning ConfigurationError: ${message}`);
    assert.deepEqual(eventsAfter(), expected);
  }
});

pure("createPlacementReporter() reports a budget when it begins to block", () => {
  const { eventsAfter } = stage();
  const blocked = { decision: { wait: "BlockedByPDB", message: "pod a: no" } } as const;
  assert.deepEqual(eventsAfter(blocked, blocked), ["Warning BlockedByPDB: pod a: no"]);
  assert.deepEqual(eventsAfter({}, blocked), ["Warning BlockedByPDB: pod a: no"]);
});

pure("createPlacementReporter() reports a shortage, and once a webhook that is off", () => {
  const { eventsAfter } = stage();
  for (const rounds of [1, 2]) {
    const began = { sinceMs: 0, untilMs: rounds * 1000, rounds };
    assert.deepEqual(eventsAfter({ shortage: { after: began, unplaced: [] } }), [
      `Warning SpotFallback: until 1970-01-01T00:00:0${rounds}.000Z`,
    ]);
    const after = { ...began, remade: { atMs: 1, count: 1 } };
    // Without `remade` it may have been a moment without a leader.
    const quiet = [
      { shortage: { before: began, after: began, unplaced: [POD] } },
      { shortage: { before: after, after, unplaced: [] } },
    ];
    assert.deepEqual(eventsAfter(...quiet), []);
    const shortage = { before: after, after, unplaced: [POD] };
    const [reported, ...more] = eventsAfter({ shortage }, { shortage });
    assert.match(reported ?? "", /^Warning SpotFallback: pod web-1 /);
    assert.deepEqual(more, []);
    assert.deepEqual(eventsAfter({ shortage: { before: after, unplaced: [] } }), [
      "Normal SpotReturned: 1 on spot, 2 on on-demand nodes",
    ]);
  }
});

pure("createPlacementReporter() reports refused, requested and completed moves once", () => {
  const { eventsAfter } = stage();
  assert.deepEqual(eventsAfter(sent("blocked"), sent("blocked", true)), [
    "Warning BlockedByPDB: pod web-1: no",
  ]);
  const decision = { move: { pod: POD, to: "spot" } } as const;
  assert.deepEqual(eventsAfter({ decision, ...sent() }, {}), []);
  assert.deepEqual(eventsAfter({ decision, ...sent("evicted") }), [
    "Normal PodRescheduled: pod web-1 moves to spot",
  ]);
  assert.deepEqual(eventsAfter({ decision: { wait: "NotWhole", message: "" } }), []);
  assert.deepEqual(eventsAfter({}, {}), [
    "Normal ReconciliationSuccess: 1 on spot, 2 on on-demand nodes",
  ]);
});

pure("createPlacementReporter() observes results, and workloads that take no part any more", () => {
  const seen: string[] = [];
  const { reporter, eventsAfter } = stage({
    reconciled: (_, { action, result }) => seen.push(`${action} ${result}`),
    blocked: () => seen.push("blocked"),
    fellBack: () => seen.push("fellBack"),
    removed: ({ name }) => seen.push(`removed ${name}`),
  });
  const after = { untilMs: 9, rounds: 1 };
  eventsAfter(sent("evicted"), sent(), sent("forbidden"), sent("blocked"));
  eventsAfter({ failure: "no", shortage: { after, unplaced: [] } });
  reporter.ineligible(WEB, { reason: "ConfigurationError", message: "odd" }, 1);
  reporter.ineligible(WEB, { reason: "PlacementOff", message: "" }, 1);
  reporter.removed(WEB);
  assert.deepEqual(seen, [
    ...["PodRescheduled done", "PodRescheduled dry", "PodRescheduled failed"],
    ...["PodRescheduled blocked", "blocked", "AsSpecified failed", "fellBack"],
    ...["ConfigurationError failed", "removed web", "removed web"],
  ]);
});
