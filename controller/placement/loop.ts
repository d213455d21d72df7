/**
 * Reconciles each workload when something about it has changed, and all of them periodically.
 *
 * @module
 */
import { createBackoff } from "../../shared/control/backoff.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { createRateLimiter } from "../../shared/control/rate_limiter.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import { checkEligibility } from "../../shared/placement/eligibility.ts";
import { isReadOnly, placementScope } from "../../shared/placement/settings.ts";
import { refusedStatus } from "../../shared/placement/status.ts";
import { readCaches } from "./caches.ts";
import { type PlacementLoopParts, placeWorkload, type ReconcileParts } from "./reconcile.ts";
import { createPlacementReporter, type PlacementReporter } from "./reporter.ts";
import {
  createDepartureTimes,
  placementKey,
  placementSubjects,
  subjectUnder,
  watchWorkloads,
} from "./watch.ts";
import { eligibilityInput, placedPodsOf, replicaStatus } from "./workload_snapshot.ts";

/** Changes within this time lead to one reconcile, ms. */
const CHANGES_MS = 250;
/** Concurrent writes of deletion costs. */
const MOST_COST_WRITES = 8;
/** The longest wait between two tries after failures, ms. */
const LONGEST_RETRY_MS = 60_000;

/** Runs until `signal` is aborted; requests in flight are completed. */
export async function runPlacementLoop(
  parts: PlacementLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, settings, evictions, clock, log, observer, publisher } = parts;
  const synced = await Promise.all(readCaches(caches).map((cache) => cache.whenSynced(signal)));
  if (synced.includes(false)) return;
  const { evictionsPerSecond, evictionBurst, placementWorkers } = settings();
  const queue = createWorkQueue(clock);
  const departures = createDepartureTimes(() => clock.wall());
  const reporter = createPlacementReporter(parts);
  const reconcileParts: ReconcileParts = {
    ...parts,
    input: { caches, settings, evicted: evictions, signSinceMs: departures.sinceMs },
    rate: createRateLimiter({ perSecond: evictionsPerSecond, burst: evictionBurst }),
    permits: createPermits(() => MOST_COST_WRITES),
  };
  const unsubscribe = watchWorkloads({
    caches,
    settings,
    wake: (key) => queue.add(key, CHANGES_MS),
    onNode: departures.observe,
  });
  for (const one of placementSubjects(caches)) queue.add(placementKey(one));
  observer?.leads?.(true);
  try {
    await Promise.all([
      runReconcileLoop({
        queue,
        reconcile: (key, term) => reconcile(key, { parts: reconcileParts, reporter, signal: term }),
        backoff: createBackoff({ maxMs: LONGEST_RETRY_MS }),
        clock,
        log,
        workers: placementWorkers,
      }, signal),
      resync(parts, { queue, signal }),
      publisher.run(signal),
    ]);
  } finally {
    unsubscribe();
    observer?.leads?.(false);
  }
}

async function reconcile(
  key: string,
  { parts, reporter, signal }: {
    readonly parts: ReconcileParts;
    readonly reporter: PlacementReporter;
    readonly signal: AbortSignal;
  },
): Promise<ReconcileResult> {
  const { caches, clock, settings, evictions, input, publisher } = parts;
  const subject = subjectUnder(key);
  const { kind, namespace, name } = subject;
  const cache = kind === "Deployment" ? caches.deployments : caches.statefulSets;
  const workload = cache.get(`${namespace}/${name}`);
  const replicas = workload && replicaStatus(workload);
  if (workload === undefined || replicas === undefined) {
    reporter.removed(subject);
    publisher.remove(subject);
    return {};
  }
  const begunAtMs = clock.monotonic();
  // A pod that was not evicted after all must not count as evicted until the next resync.
  evictions.expire();
  const target = { ...subject, uid: workload.metadata.uid };
  const tookMs = (): number => clock.monotonic() - begunAtMs;
  const answer = checkEligibility(
    eligibilityInput(workload, caches.namespaces.get(namespace)),
    placementScope(settings()),
  );
  if (answer.spec === undefined) {
    reporter.ineligible(target, answer, tookMs());
    const pods = () => ({ pods: placedPodsOf(workload, input), nowMs: clock.wall() });
    publisher.publish(subject, refusedStatus(answer, pods));
    return {};
  }
  const eligible = { workload, replicas, spec: answer.spec };
  const result = await placeWorkload(eligible, { parts, signal });
  reporter.reconciled(target, result, tookMs());
  publisher.publish(subject, result.status);
  if (result.failure !== undefined) throw result.failure;
  const { requeueAfterMs } = result;
  return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
}

/** Queues all workloads periodically, and deletes the stored state of deleted ones. */
async function resync(
  { caches, settings, clock, state, publisher }: PlacementLoopParts,
  { queue, signal }: { readonly queue: WorkQueue; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(settings().resyncPeriod, signal);
    if (signal.aborted) return;
    const subjects = placementSubjects(caches);
    for (const one of subjects) queue.add(placementKey(one));
    publisher.retain(subjects);
    if (isReadOnly(settings())) continue;
    const all = [...caches.deployments.all(), ...caches.statefulSets.all()];
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    await state.retain(uids, { cooldownMs: settings().placementCooldown, signal });
  }
}
