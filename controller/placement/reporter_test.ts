import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { type PlacementStatus, readStatus } from "../../shared/placement/status.ts";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import type { PlacementObserver, PlacementSubject } from "./ports.ts";
import type { PlacementResult } from "./reconcile.ts";
import { createPlacementReporter } from "./reporter.ts";
import { createPlacementMetrics } from "./metrics.ts";
import { createStatusPublisher } from "./publisher.ts";

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
    const until = `Warning SpotFallback: until 1970-01-01T00:00:0${rounds}.000Z`;
    assert.deepEqual(eventsAfter({ shortage: { after: began, unplaced: [] } }), [until]);
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
    const returned = "Normal SpotReturned: 1 on spot, 2 on on-demand nodes";
    assert.deepEqual(eventsAfter({ shortage: { before: after, unplaced: [] } }), [returned]);
  }
});

pure("createPlacementReporter() reports refused, requested and completed moves once", () => {
  const { eventsAfter } = stage();
  const blocked = "Warning BlockedByPDB: pod web-1: no";
  assert.deepEqual(eventsAfter(sent("blocked"), sent("blocked", true)), [blocked]);
  const decision = { move: { pod: POD, to: "spot" } } as const;
  assert.deepEqual(eventsAfter({ decision, ...sent() }, {}), []);
  const moves = "Normal PodRescheduled: pod web-1 moves to spot";
  assert.deepEqual(eventsAfter({ decision, ...sent("evicted") }), [moves]);
  assert.deepEqual(eventsAfter({ decision: { wait: "NotWhole", message: "" } }), []);
  const done = "Normal ReconciliationSuccess: 1 on spot, 2 on on-demand nodes";
  assert.deepEqual(eventsAfter({}, {}), [done]);
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
  const expected = [
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
  ];
  for (const line of expected) assert.ok(text.includes(line), line);
});

Deno.test("createPlacementMetrics() has no replicas of a workload with annotations that became invalid", async () => {
  const registry = new Registry();
  const metrics = createPlacementMetrics(registry);
  const replicas = { actual: COUNTS, desired: COUNTS, floor: 2, pendingMs: 1_200_000 };
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
    const replicas = { actual: COUNTS, desired: COUNTS, floor: 0, pendingMs: 0 };
    for (const result of ["done", "dry", "blocked", "failed"] as const) {
      metrics.reconciled(subject, { tookMs: 1, action: "PodRescheduled", result, replicas });
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
  const requests = 'spotalis_webhook_requests_total{operation="CREATE",resource_kind="Pod",result=';
  const bucket = "spotalis_webhook_request_duration_seconds_bucket";
  const expected = [
    ...["Placed", "ReadOnly", "NoLeader"].map((result) => `${requests}"${result}"} 1`),
    'spotalis_webhook_mutations_total{replica_type="spot"} 1',
    ...[`${bucket}{le="0.1"} 2`, `${bucket}{le="0.2"} 3`],
  ];
  for (const line of expected) assert.ok(text.includes(`${line}\n`), line);
});

const FAR = { ...SUBJECT, namespace: "far" };
const OFF = status("LeftAlone", { reason: "PlacementOff" });

function status(phase: PlacementStatus["phase"], more: Partial<PlacementStatus> = {}) {
  return { phase, revisions: [], pods: [], ...more };
}

function publisherStage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const store = keptCheckpoints();
  const end = new AbortController();
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const open = () => {
    const publisher = createStatusPublisher({ statuses: store, clock, log });
    void publisher.run(end.signal);
    return publisher;
  };
  /** The phases in a ConfigMap after the next write. */
  const phases = async (namespace = "shop"): Promise<Readonly<Record<string, unknown>>> => {
    await clock.runUntil(clock.monotonic() + 2000);
    const { data = {} } = store.kept.get(`mbcas-placement-${namespace}`) ?? {};
    return Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, JSON.parse(text).phase]),
    );
  };
  return { clock, store, open, phases, warned, stop: () => end.abort() };
}

Deno.test("createStatusPublisher() writes a namespace when a status changes, and only then", async () => {
  const { store, open, phases, stop } = publisherStage();
  const publisher = open();
  publisher.publish(SUBJECT, status("Cooldown"));
  publisher.publish({ ...SUBJECT, name: "api" }, OFF);
  publisher.publish(FAR, OFF);
  assert.deepEqual(await phases(), { "Deployment.api": "LeftAlone", "Deployment.web": "Cooldown" });
  publisher.publish(SUBJECT, status("Cooldown"));
  await phases();
  // A namespace that placement does not concern has none.
  assert.deepEqual(store.writes, ["apply mbcas-placement-shop"]);
  publisher.publish(SUBJECT, status("Converging"));
  assert.equal((await phases())["Deployment.web"], "Converging");
  stop();
});

Deno.test("createStatusPublisher() keeps statuses of the former leader until they are replaced", async () => {
  const { store, open, phases, stop } = publisherStage();
  const former = open();
  for (const name of ["web", "old", "api"]) former.publish({ ...SUBJECT, name }, status("Paused"));
  await phases();
  const next = open();
  next.publish(SUBJECT, status("Cooldown"));
  const { "Deployment.web": web, ...others } = await phases();
  assert.deepEqual([web, Object.keys(others)], ["Cooldown", ["Deployment.api", "Deployment.old"]]);
  next.remove({ ...SUBJECT, name: "old" });
  next.remove(FAR);
  assert.deepEqual(Object.keys(await phases()), ["Deployment.api", "Deployment.web"]);
  next.retain([SUBJECT]);
  assert.deepEqual(await phases(), { "Deployment.web": "Cooldown" });
  next.retain([]);
  await phases();
  assert.equal(store.kept.size, 0);
  stop();
});

Deno.test("createStatusPublisher() retries failed writes ever later, and logs the first of a row", async () => {
  const { clock, store, open, warned, stop } = publisherStage();
  const publisher = open();
  await clock.runUntil(2000);
  publisher.publish(SUBJECT, status("Cooldown"));
  publisher.publish(FAR, status("Cooldown"));
  let tries = 0;
  const apply = store.apply;
  const refuse: typeof apply = (one, signal) => {
    if (!one.name.endsWith("-shop")) return apply(one, signal);
    tries++;
    return Promise.reject(new ApiError(413, "", "too large"));
  };
  store.apply = refuse;
  await clock.runUntil(62_000);
  assert.equal(tries, 5);
  assert.equal(warned.length, 1);
  // A namespace that can't be written keeps no other one from it.
  assert.deepEqual([...store.kept.keys()], ["mbcas-placement-far"]);
  store.apply = apply;
  await clock.runUntil(130_000);
  assert.equal(store.kept.size, 2);
  // After a success, a failure is the first of a row again.
  store.apply = refuse;
  publisher.publish(SUBJECT, status("Converging"));
  await clock.runUntil(140_000);
  assert.deepEqual([tries, warned.length], [8, 2]);
  stop();
});

Deno.test("createStatusPublisher() reads the former leader's statuses before it writes", async () => {
  const { store, open, phases, warned, stop } = publisherStage();
  store.refusal = new ApiError(503, "", "busy");
  open().publish(SUBJECT, status("Cooldown"));
  assert.deepEqual(await phases(), {});
  store.refusal = undefined;
  assert.deepEqual(await phases(), { "Deployment.web": "Cooldown" });
  assert.equal(warned.length, 1);
  stop();
});

Deno.test("createStatusPublisher() writes large ConfigMaps less often", async () => {
  const { clock, store, open, stop } = publisherStage();
  const publisher = open();
  for (let second = 0; second < 60; second++) {
    const message = `${second}`.padStart(500_000);
    publisher.publish(SUBJECT, status("Cooldown", { message }));
    publisher.publish(FAR, status("Cooldown", { message: `${second}` }));
    await clock.runUntil((second + 1) * 1000);
  }
  const count = (namespace: string): number =>
    store.writes.filter((one) => one.endsWith(namespace)).length;
  assert.deepEqual([count("far"), count("shop")], [30, 3]);
  stop();
});

Deno.test("createStatusPublisher() leaves out what a ConfigMap has no room for", async () => {
  const counts = { spot: 1, "on-demand": 0 };
  const large = "\u00e4".repeat(100_000);
  const blank = { revision: "", node: "", ready: true, notes: [] };
  const pod = { ...blank, name: large, class: "spot" as const };
  const revision = { revision: large, actual: counts, pending: counts };
  const written = async (statuses: Readonly<Record<string, PlacementStatus>>) => {
    const { store, open, phases, stop } = publisherStage();
    const { publish } = open();
    for (const [name, one] of Object.entries(statuses)) publish({ ...SUBJECT, name }, one);
    await phases();
    stop();
    const { data = {} } = store.kept.get("mbcas-placement-shop") ?? {};
    return Object.entries(data).map(([key, text]) => {
      const { pods, revisions } = JSON.parse(text);
      return [key.slice("Deployment.".length), revisions.length, pods.length];
    });
  };
  const web = (pods: number, revisions: number) =>
    status("Cooldown", {
      pods: Array.from({ length: pods }, () => pod),
      revisions: Array.from({ length: revisions }, () => revision),
    });
  const off = { ...OFF, message: large.repeat(3) };
  // 200 kB each.
  assert.deepEqual(await written({ web: web(3, 1) }), [["web", 1, 3]]);
  assert.deepEqual(await written({ web: web(4, 1) }), [["web", 1, 0]]);
  assert.deepEqual(await written({ off, web: web(1, 1) }), [["off", 0, 0], ["web", 1, 0]]);
  assert.deepEqual(await written({ off, web: web(1, 2) }), [["web", 2, 0]]);
  assert.deepEqual(await written({ off, web: web(1, 5) }), [["web", 0, 0]]);
  // Workloads that still find no room.
  const long = { ...web(1, 1), message: large.repeat(2) };
  const many = Object.fromEntries([1, 2, 3].map((number) => [`web-${number}`, long]));
  assert.deepEqual(await written(many), [["web-1", 0, 0], ["web-2", 0, 0]]);
});
