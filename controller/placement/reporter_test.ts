import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { silentLog } from "../../shared/log.ts";
import { readStatus } from "../../shared/placement/status.ts";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import type { PlacementObserver, PlacementSubject } from "./ports.ts";
import type { PlacementResult } from "./reconcile.ts";
import { createPlacementReporter } from "./reporter.ts";
import { createPlacementMetrics } from "./metrics.ts";

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
function sent(is?: EvictionAnswer["is"], repeated = false): Partial<PlacementResult> {
  const answer = is === undefined ? {} : { answer: { is, message: "no" } };
  return { evictions: [{ pod: POD, why: "to spot", repeated, ...answer }] };
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

const SUBJECT: PlacementSubject = { kind: "Deployment", namespace: "shop", name: "web" };
const OF_WEB = 'namespace="shop",workload="web",workload_type="deployment"';
const OF_BAD = OF_WEB.replace('"web"', '"bad"');

function lines(text: string): readonly string[] {
  return text.split("\n").filter((line) => /^(spotalis|mbcas)_/.test(line));
}

Deno.test("createPlacementMetrics() has replicas, reconciles, budgets, and shortages of a workload", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  metrics.leads(true);
  metrics.reconciled(SUBJECT, {
    tookMs: 20,
    action: "PodRescheduled",
    result: "done",
    replicas: {
      actual: { spot: 6, "on-demand": 4 },
      desired: { spot: 7, "on-demand": 3 },
      floor: 2,
      pendingMs: 1500,
    },
  });
  const invalid = { tookMs: 1, action: "ConfigurationError", result: "failed" } as const;
  metrics.reconciled({ ...SUBJECT, name: "bad" }, invalid);
  metrics.blocked(SUBJECT);
  metrics.fellBack(SUBJECT);
  const text = lines(await registry.metrics());
  for (
    const line of [
      `spotalis_workload_replicas{${OF_WEB},replica_type="spot"} 6`,
      `spotalis_workload_replicas{${OF_WEB},replica_type="on-demand"} 4`,
      `spotalis_workload_desired_replicas{${OF_WEB},replica_type="spot"} 7`,
      `spotalis_workload_desired_replicas{${OF_WEB},replica_type="on-demand"} 3`,
      `mbcas_placement_workload_floor_replicas{${OF_WEB}} 2`,
      `spotalis_pending_seconds{${OF_WEB}} 1.5`,
      `spotalis_reconciliations_total{${OF_WEB},action="PodRescheduled",result="done"} 1`,
      `spotalis_reconciliations_total{${OF_BAD},action="ConfigurationError",result="failed"} 1`,
      `spotalis_reconciliation_errors_total{${OF_BAD}} 1`,
      `spotalis_rebalancing_blocked_by_pdb_total{${OF_WEB}} 1`,
      `spotalis_fallbacks_total{${OF_WEB}} 1`,
      "spotalis_reconciliation_duration_seconds_count 2",
      "spotalis_leader_election_status 1",
    ]
  ) assert.ok(text.includes(line), line);
});

Deno.test("createPlacementMetrics() has no replicas of a workload with annotations that became invalid", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  const counts = { spot: 0, "on-demand": 0 };
  const replicas = { actual: counts, desired: counts, floor: 2, pendingMs: 1_200_000 };
  const unread = { tookMs: 1, action: "ConfigurationError", result: "failed" } as const;
  metrics.reconciled(SUBJECT, { tookMs: 1, action: "NotWhole", result: "done", replicas });
  metrics.reconciled(SUBJECT, unread);
  metrics.reconciled(SUBJECT, unread);
  const text = lines(await registry.metrics()).filter((line) => line.includes(OF_WEB));
  const served = [
    `reconciliations_total{${OF_WEB},action="NotWhole",result="done"} 1`,
    `reconciliations_total{${OF_WEB},action="ConfigurationError",result="failed"} 2`,
    `reconciliation_errors_total{${OF_WEB}} 2`,
  ];
  const prefixes = ["mbcas_placement_", "spotalis_"];
  const expected = prefixes.flatMap((prefix) => served.map((line) => prefix + line));
  assert.deepEqual(text.toSorted(), expected.toSorted());
});

Deno.test("createPlacementMetrics() removes the series of a workload that is gone, and no others", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  const other = { ...SUBJECT, kind: "StatefulSet" } as const;
  for (const subject of [SUBJECT, other]) {
    const counts = { spot: 1, "on-demand": 1 };
    const replicas = { actual: counts, desired: counts, floor: 0, pendingMs: 0 };
    for (const result of ["done", "dry", "blocked", "failed"] as const) {
      for (const action of ["AsSpecified", "PodRescheduled", "BlockedByPDB"] as const) {
        metrics.reconciled(subject, { tookMs: 1, action, result, replicas });
      }
    }
    metrics.blocked(subject);
    metrics.fellBack(subject);
  }
  const before = lines(await registry.metrics()).filter((line) => line.includes("statefulset"));
  metrics.removed(SUBJECT);
  metrics.removed(SUBJECT);
  const after = lines(await registry.metrics());
  assert.deepEqual(after.filter((line) => line.includes('"deployment"')), []);
  assert.deepEqual(after.filter((line) => line.includes("statefulset")), before);
  assert.ok(before.length > 0);
  metrics.leads(false);
  assert.deepEqual(lines(await registry.metrics()).filter((line) => line.includes(OF_WEB)), []);
  assert.ok(!(await registry.metrics()).includes("statefulset"));
});

Deno.test("createPlacementMetrics() counts new pods by result", async () => {
  const registry = new Registry();
  const { admitted } = createPlacementMetrics(registry);
  admitted({ result: "Placed", class: "spot", tookMs: 2 });
  admitted({ result: "ReadOnly", class: "spot", tookMs: 2 });
  admitted({ result: "NoLeader", tookMs: 150 });
  const text = await registry.metrics();
  for (const result of ["Placed", "ReadOnly", "NoLeader"]) {
    const labels = `operation="CREATE",resource_kind="Pod",result="${result}"`;
    assert.ok(text.includes(`spotalis_webhook_requests_total{${labels}} 1\n`));
  }
  assert.ok(text.includes('spotalis_webhook_mutations_total{replica_type="spot"} 1\n'));
  const bucket = "spotalis_webhook_request_duration_seconds_bucket";
  assert.ok(text.includes(`${bucket}{le="0.1"} 2\n`));
  assert.ok(text.includes(`${bucket}{le="0.2"} 3\n`));
});
