/**
 * Reconciles each workload when something about it has changed, and all of them periodically.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { createRateLimiter } from "../../shared/control/rate_limiter.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import type { Log } from "../../shared/log.ts";
import type { PlacementConfig } from "../../shared/placement/settings.ts";
import { checkEligibility } from "../../shared/placement/eligibility.ts";
import { refusedStatus, statusKey, type StatusPods } from "../../shared/placement/status.ts";
import {
  eligibilityInput,
  placedPodsOf,
  podsOfWorkload,
  replicaStatus,
} from "../../shared/placement/workload_snapshot.ts";
import { cachedObjects, type PlacementCaches } from "./caches.ts";
import { createPlacementReporter, type PlacementReporter } from "./reporter.ts";
import { createEvictionLog, type EvictionLog } from "./eviction_memory.ts";
import type {
  DeletionCostWriter,
  PlacementEvents,
  PlacementObserver,
  PlacementSubject,
  PodEvictor,
} from "./ports.ts";
import type { StatusPublisher } from "./publisher.ts";
import { placeWorkload, type ReconcileParts } from "./reconcile.ts";
import type { PlacementState } from "./store.ts";
import { allPlacementKeys, createDepartureTimes, watchWorkloads } from "./watch.ts";

/** The dependencies of the loop. */
export interface PlacementLoopParts {
  readonly caches: PlacementCaches;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  /** Has been loaded. */
  readonly state: PlacementState;
  readonly events: PlacementEvents;
  readonly config: PlacementConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer?: PlacementObserver;
  /** @default {none} */
  readonly publisher?: StatusPublisher | undefined;
  /**
   * Shared with others that count pods.
   *
   * @default its own
   */
  readonly evictions?: EvictionLog;
}

/** Changes within this time lead to one reconcile, ms. */
const CHANGES_MS = 250;
/** Concurrent writes of deletion costs. */
const MOST_COST_WRITES = 8;
/** The longest wait between two tries of what failed, ms. */
const LONGEST_RETRY_MS = 60_000;

/** Runs until `signal` is aborted; requests in flight are completed. */
export async function runPlacementLoop(
  parts: PlacementLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, config, clock, log, observer, publisher } = parts;
  if (!await allSynced(caches, signal)) return;
  const queue = createWorkQueue(clock);
  const departures = createDepartureTimes(() => clock.wall());
  const reporter = createPlacementReporter(parts);
  const reconcileParts: ReconcileParts = {
    ...parts,
    departures,
    evictions: parts.evictions ?? createEvictionLog(parts),
    rate: createRateLimiter(config.evictions),
    permits: createPermits(() => MOST_COST_WRITES),
  };
  const unsubscribe = watchWorkloads({
    caches,
    config,
    wake: (key) => queue.add(key, CHANGES_MS),
    onNode: departures.observe,
  });
  for (const key of allPlacementKeys(caches)) queue.add(key);
  observer?.leads?.(true);
  try {
    await Promise.all([
      runReconcileLoop({
        queue,
        reconcile: (key, term) =>
          reconcile(key, { parts: reconcileParts, reporter, publisher, signal: term }),
        backoff: createBackoff({ maxMs: LONGEST_RETRY_MS }),
        clock,
        log,
        workers: config.workers,
      }, signal),
      resync(parts, { queue, signal }),
      publisher?.run(signal),
    ]);
  } finally {
    unsubscribe();
    reporter.close();
  }
}

async function allSynced(caches: PlacementCaches, signal: AbortSignal): Promise<boolean> {
  const { pods, nodes, namespaces, deployments, statefulSets } = caches;
  const { replicaSets, budgets, volumes } = caches;
  const all = [pods, nodes, namespaces, deployments, statefulSets, replicaSets, budgets, volumes];
  const synced = await Promise.all(all.map((cache) => cache.whenSynced(signal)));
  return !synced.includes(false);
}

async function reconcile(
  key: string,
  { parts, reporter, publisher, signal }: {
    readonly parts: ReconcileParts;
    readonly reporter: PlacementReporter;
    readonly publisher: StatusPublisher | undefined;
    readonly signal: AbortSignal;
  },
): Promise<ReconcileResult> {
  const { caches, clock, config, evictions } = parts;
  const workload = workloadUnder(key, caches);
  const replicas = workload && replicaStatus(workload);
  if (workload === undefined || replicas === undefined) {
    reporter.removed(key);
    publisher?.remove(subjectUnder(key));
    return {};
  }
  const begunAtMs = clock.monotonic();
  // An eviction that came to nothing must not count until the next resync.
  evictions.expire();
  const { namespace, name, uid } = workload.metadata;
  const target = { kind: replicas.kind, namespace, name, uid };
  const took = () => ({ tookMs: clock.monotonic() - begunAtMs });
  const input = eligibilityInput(workload, cachedObjects(caches));
  const answer = checkEligibility(input, config.scope);
  if (answer.spec === undefined) {
    reporter.ineligible(target, answer, took());
    publisher?.publish(target, refusedStatus(answer, () => statusPods(workload, parts)));
    return {};
  }
  const result = await placeWorkload({ target, workload, replicas, spec: answer.spec }, {
    parts,
    signal,
  });
  reporter.reconciled(target, result, took());
  publisher?.publish(target, result.status);
  if (result.failure !== undefined) throw result.failure;
  const { requeueAfterMs } = result;
  return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
}

/** The pods of a workload that takes no part. */
function statusPods(
  workload: Workload,
  { caches, config, evictions, clock }: ReconcileParts,
): StatusPods {
  const objects = cachedObjects(caches);
  return {
    pods: podsOfWorkload(workload, objects),
    placed: placedPodsOf(workload, { objects, config, evicted: evictions }),
    nowMs: clock.wall(),
  };
}

/** Queues all workloads periodically, and garbage collects what is stored of them. */
async function resync(
  { caches, config, clock, state, publisher }: PlacementLoopParts,
  { queue, signal }: { readonly queue: WorkQueue; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(config.resyncPeriodMs, signal);
    if (signal.aborted) return;
    for (const key of allPlacementKeys(caches)) queue.add(key);
    const all = [...caches.deployments.all(), ...caches.statefulSets.all()];
    const published = new Set(
      all.map(({ kind, metadata: { namespace, name } }) =>
        `${namespace}/${statusKey({ kind, name })}`
      ),
    );
    publisher?.retain((namespace, key) => published.has(`${namespace}/${key}`));
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    if (!config.readOnly) {
      await state.retain((uid) => uids.has(uid), { cooldownMs: config.cooldownMs, signal });
    }
  }
}

function subjectUnder(key: string): PlacementSubject {
  const [kind, namespace = "", name = ""] = key.split("/");
  return { kind: kind === "Deployment" ? kind : "StatefulSet", namespace, name };
}

function workloadUnder(
  key: string,
  { deployments, statefulSets }: Pick<PlacementCaches, "deployments" | "statefulSets">,
): Workload | undefined {
  const { kind, namespace, name } = subjectUnder(key);
  return (kind === "Deployment" ? deployments : statefulSets).get(`${namespace}/${name}`);
}
