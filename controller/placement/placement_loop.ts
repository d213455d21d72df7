/**
 * The controller of placement: looks at each workload when something about it has changed, and at all of
 * them now and then.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { createRateLimiter } from "../../shared/control/rate_limiter.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../shared/control/work_queue.ts";
import type { Log } from "../../shared/log.ts";
import { gateSubject, movedWorkload } from "../../shared/placement/placed_workload.ts";
import { PLACED_KINDS, placementGate } from "../../shared/placement/placement_gate.ts";
import { memoryKey } from "../../shared/placement/placement_memory.ts";
import { cachedObjects } from "./cached_objects.ts";
import { createEvictedPods, type EvictedPods } from "./evicted_pods.ts";
import { type PlacementPass, type PlacementPassParts, placeWorkload } from "./place_workload.ts";
import type { PlacementBook } from "./placement_book.ts";
import type { PlacementConfig } from "../../shared/placement/settings/placement_config.ts";
import type { PlacementCaches } from "./placement_copies.ts";
import { allPlacementKeys, followPlacementNews, placementKey } from "./placement_news.ts";
import type { PlacementLook, PlacementObserver, PlacementSubject } from "./placement_observer.ts";
import type { DeletionCostWriter, PlacementEvents, PodEvictor } from "./placement_ports.ts";
import { createRefusedEvictions } from "./refused_evictions.ts";
import { createSeenSigns } from "./seen_signs.ts";
import { createToldPlacement } from "./told_placement.ts";

/** What the loop works with. */
export interface PlacementLoopParts {
  readonly caches: PlacementCaches;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  /** Has been loaded. */
  readonly book: PlacementBook;
  readonly events: PlacementEvents;
  readonly config: PlacementConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer?: PlacementObserver;
  /**
   * Who was evicted a moment ago, for others that count pods as well.
   *
   * @default its own
   */
  readonly evicted?: EvictedPods;
}

/** Changes come in crowds: one look at all that came within this time, ms. */
const NEWS_MS = 250;
/** Costs that are written at the same time. */
const COSTS_AT_ONCE = 8;
/** Between two tries of what failed for a while, ms at most. */
const LONGEST_RETRY_MS = 60_000;

/** Runs until `signal` is aborted; what is under way then is brought to its end. */
// deno-lint-ignore house/function-length
export async function runPlacementLoop(
  parts: PlacementLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, config, clock, log, observer, book, evicted = createEvictedPods() } = parts;
  const copies = [
    caches.pods,
    caches.nodes,
    caches.namespaces,
    caches.deployments,
    caches.statefulSets,
    caches.replicaSets,
    caches.budgets,
    caches.volumes,
  ];
  const synced = await Promise.all(copies.map((copy) => copy.whenSynced(signal)));
  if (synced.includes(false)) return;
  const objects = cachedObjects(caches);
  const queue = createWorkQueue(clock);
  const signs = createSeenSigns(() => clock.wall());
  const refused = createRefusedEvictions();
  const passParts: PlacementPassParts = {
    ...parts,
    evicted,
    refused,
    signs,
    rate: createRateLimiter(config.evictions),
    permits: createPermits(() => COSTS_AT_ONCE),
  };
  const told = createToldPlacement(
    parts.events,
    ({ kind, metadata }) => `${kind}/${metadata.namespace}/${metadata.name}`,
  );
  /** Workloads that have series. */
  const observed = new Map<string, PlacementSubject>();

  function leave(key: string): void {
    const subject = observed.get(key);
    if (subject === undefined) return;
    observed.delete(key);
    observer?.left?.(subject);
  }

  async function look(key: string, term: AbortSignal): Promise<ReconcileResult> {
    const workload = workloadUnder(key, caches);
    const moved = workload && movedWorkload(workload);
    if (workload === undefined || moved === undefined) {
      leave(key);
      told.forget(key);
      return {};
    }
    const begunAt = clock.monotonic();
    // An eviction that came to nothing must not count until the next look at all.
    evicted.expire(begunAt);
    const { namespace, name } = workload.metadata;
    const subject = { kind: moved.kind, namespace, name };
    const tell = (what: Omit<PlacementLook, "tookMs">): void => {
      observed.set(key, subject);
      observer?.looked?.(subject, { tookMs: clock.monotonic() - begunAt, ...what });
    };
    const answer = placementGate(gateSubject(workload, objects), config.scope);
    if (answer.wish === undefined) {
      told.leftAlone(workload, answer);
      if (answer.reason === "ConfigurationError") tell({ action: answer.reason, result: "failed" });
      else leave(key);
      return {};
    }
    const pass = await placeWorkload(
      { workload, moved, wish: answer.wish },
      { parts: passParts, signal: term },
    );
    told.looked(workload, pass);
    tell({ ...outcomeOf(pass), replicas: pass.replicas });
    if (isBlocked(pass)) observer?.blocked?.(subject);
    const { before, after } = pass.shortage;
    if (after !== undefined && after.rounds !== before?.rounds) observer?.fellBack?.(subject);
    for (const { pod, answer: said, again } of pass.evictions) {
      if (said?.is !== "forbidden" || again) continue;
      log.warn("A pod may not be evicted", { namespace, pod: pod.name, error: said.message });
    }
    if (pass.failure !== undefined) throw pass.failure;
    return pass.againInMs === Infinity ? {} : { requeueAfterMs: pass.againInMs };
  }

  function isThere(namespace: string, memoryName: string): boolean {
    return PLACED_KINDS.some((kind) => {
      const prefix = memoryKey(kind, "");
      const name = memoryName.slice(prefix.length);
      return memoryName.startsWith(prefix) &&
        workloadUnder(placementKey(kind, { namespace, name }), caches) !== undefined;
    });
  }

  async function resync(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(config.resyncPeriodMs, signal);
      if (signal.aborted) return;
      refused.expire(clock.monotonic());
      for (const key of allPlacementKeys(caches)) queue.add(key);
      if (!config.readOnly) await book.keepOnly(isThere, signal);
    }
  }

  const end = followPlacementNews({
    caches,
    config,
    wake: (key) => queue.add(key, NEWS_MS),
    heardNode: signs.hear,
  });
  for (const key of allPlacementKeys(caches)) queue.add(key);
  observer?.leads?.(true);
  try {
    await Promise.all([
      runReconcileLoop({
        queue,
        reconcile: look,
        backoff: createBackoff({ maxMs: LONGEST_RETRY_MS }),
        clock,
        log,
        workers: config.workers,
      }, signal),
      resync(),
    ]);
  } finally {
    end();
    observer?.leads?.(false);
    // Who does not lead knows nothing of them any more.
    for (const key of [...observed.keys()]) leave(key);
  }
}

function workloadUnder(
  key: string,
  { deployments, statefulSets }: Pick<PlacementCaches, "deployments" | "statefulSets">,
): Workload | undefined {
  const [kind, namespace, name] = key.split("/");
  return (kind === "Deployment" ? deployments : statefulSets).get(`${namespace}/${name}`);
}

function isBlocked({ next, evictions }: PlacementPass): boolean {
  return evictions.some(({ answer }) => answer?.is === "blocked") ||
    ("wait" in next && next.wait === "BlockedByPDB");
}

function outcomeOf(pass: PlacementPass): Pick<PlacementLook, "action" | "result"> {
  const { next, evictions, failure } = pass;
  const action = "wait" in next && evictions.length === 0 ? next.wait : "PodRescheduled";
  const isDenied = evictions.some(({ answer }) => answer?.is === "forbidden");
  if (failure !== undefined || isDenied) return { action, result: "failed" };
  if (isBlocked(pass)) return { action, result: "blocked" };
  return { action, result: evictions.some(({ answer }) => answer === undefined) ? "dry" : "done" };
}
