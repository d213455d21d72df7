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
import type { PlacementConfig } from "../../shared/placement/config.ts";
import { checkEligibility, PLACED_KINDS } from "../../shared/placement/eligibility.ts";
import { memoryKey } from "../../shared/placement/placement_memory.ts";
import { eligibilityInput, replicaStatus } from "../../shared/placement/workload_snapshot.ts";
import { cachedObjects, type PlacementCaches } from "./caches.ts";
import { createPlacementReporter, type PlacementReporter } from "./reporter.ts";
import { createEvictionLog, type EvictionLog } from "./eviction_memory.ts";
import type {
  DeletionCostWriter,
  PlacementEvents,
  PlacementObserver,
  PodEvictor,
} from "./ports.ts";
import { placeWorkload, type ReconcileParts } from "./reconcile.ts";
import type { PlacementState } from "./store.ts";
import { allPlacementKeys, createDepartureTimes, placementKey, watchWorkloads } from "./watch.ts";

/** What the loop depends on. */
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
  const { caches, config, clock, log, observer } = parts;
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
        reconcile: (key, term) => reconcile(key, { parts: reconcileParts, reporter, signal: term }),
        backoff: createBackoff({ maxMs: LONGEST_RETRY_MS }),
        clock,
        log,
        workers: config.workers,
      }, signal),
      resync(parts, { queue, signal }),
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
  { parts, reporter, signal }: {
    readonly parts: ReconcileParts;
    readonly reporter: PlacementReporter;
    readonly signal: AbortSignal;
  },
): Promise<ReconcileResult> {
  const { caches, clock, config, evictions } = parts;
  const workload = workloadUnder(key, caches);
  const replicas = workload && replicaStatus(workload);
  if (workload === undefined || replicas === undefined) {
    reporter.removed(key);
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
    return {};
  }
  const result = await placeWorkload({ target, workload, replicas, spec: answer.spec }, {
    parts,
    signal,
  });
  reporter.reconciled(target, result, took());
  if (result.failure !== undefined) throw result.failure;
  const { requeueAfterMs } = result;
  return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
}

/** Queues all workloads periodically, and garbage collects the stored state. */
async function resync(
  { caches, config, clock, state }: PlacementLoopParts,
  { queue, signal }: { readonly queue: WorkQueue; readonly signal: AbortSignal },
): Promise<void> {
  const isThere = (namespace: string, memoryName: string): boolean =>
    PLACED_KINDS.some((kind) => {
      const prefix = memoryKey(kind, "");
      const name = memoryName.slice(prefix.length);
      return memoryName.startsWith(prefix) &&
        workloadUnder(placementKey({ kind, namespace, name }), caches) !== undefined;
    });
  while (!signal.aborted) {
    await clock.sleep(config.resyncPeriodMs, signal);
    if (signal.aborted) return;
    for (const key of allPlacementKeys(caches)) queue.add(key);
    if (!config.readOnly) await state.retain(isThere, signal);
  }
}

function workloadUnder(
  key: string,
  { deployments, statefulSets }: Pick<PlacementCaches, "deployments" | "statefulSets">,
): Workload | undefined {
  const [kind, namespace, name] = key.split("/");
  return (kind === "Deployment" ? deployments : statefulSets).get(`${namespace}/${name}`);
}
