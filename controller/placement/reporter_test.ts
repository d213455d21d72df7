import assert from "node:assert/strict";
import { readStatus } from "../../shared/placement/status.ts";
import { silentLog } from "../../shared/log.ts";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import { createPlacementReporter } from "./reporter.ts";
import type { PlacementEvent, PlacementObserver } from "./ports.ts";
import type { PlacementResult } from "./reconcile.ts";

const WEB = { kind: "Deployment", namespace: "shop", name: "web", uid: "u1" } as const;
const COUNTS = { spot: 1, "on-demand": 2 };
const TOOK = { tookMs: 1 };

function stage(observer?: PlacementObserver) {
  const events: PlacementEvent[] = [];
  const emit = (event: PlacementEvent) => events.push(event);
  const reporter = createPlacementReporter({ events: { emit }, observer, log: silentLog });
  return {
    reporter,
    /** Reasons of the events after these results. */
    reasonsAfter(...changes: readonly Partial<PlacementResult>[]) {
      for (const change of changes) {
        reporter.reconciled(WEB, {
          next: { wait: "AsSpecified", message: "" },
          evictions: [],
          shortage: { unplaced: [] },
          replicas: { actual: COUNTS, desired: COUNTS, floor: 0, pendingMs: 0 },
          status: readStatus(""),
          requeueAfterMs: Infinity,
          ...change,
        }, TOOK);
      }
      return events.splice(0).map(({ reason }) => reason);
    },
  };
}

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("createPlacementReporter() reports each fault once, and again when it comes back", () => {
  const { reporter, reasonsAfter } = stage();
  const reasonsOf = (message: string): readonly string[] => {
    const reason = message === "" ? "PlacementOff" : "ConfigurationError";
    reporter.ineligible(WEB, { reason, message }, TOOK);
    return reasonsAfter();
  };
  assert.deepEqual(["odd", "odd", "odder", "", "odder"].map((one) => reasonsOf(one).length), [
    1,
    0,
    1,
    0,
    1,
  ]);
});

pure("createPlacementReporter() reports a budget when it begins to block", () => {
  const { reasonsAfter } = stage();
  const blocked = { next: { wait: "BlockedByPDB", message: "pod a: no" } } as const;
  assert.deepEqual(reasonsAfter(blocked, blocked), ["BlockedByPDB"]);
  assert.deepEqual(reasonsAfter({}, blocked), ["BlockedByPDB"]);
});

pure("createPlacementReporter() reports once per fallback that the webhook seems to be off", () => {
  const { reasonsAfter } = stage();
  const unplaced = [placedPod("a")];
  for (const rounds of [1, 2]) {
    const began = { sinceMs: 0, untilMs: rounds * 1000, rounds };
    const after = { ...began, remade: { atMs: 1, count: 1 } };
    // Without `remade` it may have been a moment without a leader.
    const quiet = [
      { shortage: { before: began, after: began, unplaced } },
      { shortage: { before: after, after, unplaced: [] } },
    ];
    assert.deepEqual(reasonsAfter(...quiet), []);
    const shortage = { before: after, after, unplaced };
    assert.deepEqual(reasonsAfter({ shortage }, { shortage }), ["SpotFallback"]);
  }
});

pure("createPlacementReporter() reports refused, requested and completed moves once", () => {
  const { reasonsAfter } = stage();
  const pod = placedPod("a");
  const why = "to spot";
  const blocked = { pod, why, answer: { is: "blocked", message: "no" } } as const;
  const refusals = [false, true].map((again) => ({ evictions: [{ ...blocked, again }] }));
  assert.deepEqual(reasonsAfter(...refusals), ["BlockedByPDB"]);
  const next = { move: { pod, to: "spot" } } as const;
  assert.deepEqual(reasonsAfter({ next, evictions: [{ pod, why }] }, {}), []);
  const evicted = { next, evictions: [{ pod, why, answer: { is: "evicted" } }] } as const;
  assert.deepEqual(reasonsAfter(evicted), ["PodRescheduled"]);
  assert.deepEqual(reasonsAfter({ next: { wait: "NotWhole", message: "" } }), []);
  assert.deepEqual(reasonsAfter({}, {}), ["ReconciliationSuccess"]);
});

pure("createPlacementReporter() observes results, and removes workloads once", () => {
  const seen: string[] = [];
  const { reporter, reasonsAfter } = stage({
    reconciled: (_, { action, result }) => seen.push(`${action} ${result}`),
    blocked: () => seen.push("blocked"),
    fellBack: () => seen.push("fellBack"),
    removed: ({ name }) => seen.push(`removed ${name}`),
    leads: (isLeader) => seen.push(`leads ${isLeader}`),
  });
  const sent = (is?: "evicted" | "forbidden" | "blocked") => ({
    evictions: [{
      pod: placedPod("a"),
      why: "",
      ...(is === undefined ? {} : { answer: { is, message: "" } }),
    }],
  });
  const after = { untilMs: 9, rounds: 1 };
  reasonsAfter(sent("evicted"), sent(), sent("forbidden"), sent("blocked"));
  reasonsAfter({ failure: "no", shortage: { after, unplaced: [] } });
  reporter.ineligible(WEB, { reason: "ConfigurationError", message: "odd" }, TOOK);
  reporter.removed("Deployment/shop/web");
  reporter.close();
  assert.deepEqual(seen, [
    "PodRescheduled done",
    "PodRescheduled dry",
    "PodRescheduled failed",
    "PodRescheduled blocked",
    "blocked",
    "AsSpecified failed",
    "fellBack",
    "ConfigurationError failed",
    "removed web",
    "leads false",
  ]);
});
