/**
 * The loop of rightsizing: reconciles every policy's workloads once in its interval, and new ones soon.
 *
 * Events of policies and workloads fill a queue of policies. Each key that is taken from it runs
 * `reconcilePolicy()`: one cycle (`policies/policy_cycle.ts`), its events and records, then its report
 * (`policies/report_cycle.ts`), and when the next one is due.
 *
 * @module
 */
import { objectKey } from "../../shared/control/object_key.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { VerticalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { type Backoff, createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { validationProblem } from "../../shared/rightsizing/build_policy_status.ts";
import { eventMessage } from "../../shared/rightsizing/guards/workload_events.ts";
import {
  policiesFor,
  readablePolicies,
  workloadKey,
} from "../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import {
  foundWorkload,
  rightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { policyInput, type RightsizingConfig } from "./config.ts";
import { emitCycleEvents, policySubject } from "./events.ts";
import type { RightsizingObserver } from "./metrics.ts";
import { collectGarbage } from "./policies/garbage_collection.ts";
import { awaitDiscovery, type Synced } from "./policies/initial_sync.ts";
import { type PolicyChanges, trackPolicyChanges } from "./policies/policy_changes.ts";
import { type CycleOutcome, type CycleParts, runPolicyCycle } from "./policies/policy_cycle.ts";
import { createPublishedVPAs, type PublishedVPAs } from "./policies/published_vpas.ts";
import { reportCycle, unwrittenRecord } from "./policies/report_cycle.ts";
import type { PolicyStatusWriter, ReportStore, RightsizingEvents, VPAPublisher } from "./ports.ts";
import { createRecordStore, writeAppliedRecords } from "./store.ts";

/** The caches that the loop reads. */
export interface RightsizingCaches {
  readonly policies: Informer<StoredPolicy>;
  readonly reports: Informer<RecommendationReport>;
  readonly namespaces: Informer<Namespace>;
  readonly deployments: Informer<Workload>;
  readonly statefulSets: Informer<Workload>;
  readonly daemonSets: Informer<Workload>;
  readonly verticalPodAutoscalers: Informer<VerticalPodAutoscaler>;
}

/** What the loop works with. */
export interface RightsizingLoopParts
  extends Pick<CycleParts, "sources" | "cluster" | "appliers" | "lacksPermission"> {
  readonly caches: RightsizingCaches;
  /** What else is waited for before the first cycle, by a name for people. @default nothing */
  readonly first?: Readonly<Record<string, Synced>>;
  readonly statuses: PolicyStatusWriter;
  readonly reports: ReportStore;
  readonly vpaPublisher: VPAPublisher;
  readonly events: RightsizingEvents;
  readonly config: RightsizingConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer?: RightsizingObserver;
}

/** Policies with cycles that run at the same time; the number of workloads is a setting. */
const POLICIES_AT_ONCE = 4;
/** New workloads come in crowds: one cycle for all that came within this time, ms. */
const NEW_WORKLOADS_MS = 2000;
/** Between two garbage collections, ms. */
const GARBAGE_MS = 60_000;
/** Between two tries of what failed for a while, ms at most. */
const LONGEST_RETRY_MS = 300_000;
/** A cycle begins by 5 to 10 % sooner than its interval ends, so that policies do not keep step. */
const LEAST_JITTER = 0.05;

/** The loop's parts and what it remembers. Policies go by `namespace/name`. */
interface Loop extends RightsizingLoopParts {
  readonly cycle: CycleParts;
  readonly vpas: PublishedVPAs;
  readonly changes: PolicyChanges;
  readonly queue: WorkQueue;
  readonly retries: Backoff;
  /** When each policy's next whole cycle is due, by the monotonic clock. */
  readonly dueAt: Map<string, number>;
  /** Policies that have changed: their next cycle is a whole one whenever it is. */
  readonly changed: Set<string>;
  /** Ends cycles under way. */
  readonly running: Map<string, AbortController>;
  /** Workloads that were ever queued, by key and UID. */
  readonly seen: Set<string>;
  /** UIDs, by key, of workloads that are new, or are to be reconciled again soon. */
  readonly pending: Map<string, string>;
}

/** Runs until `signal` is aborted, then finishes what is under way. */
export async function runRightsizingLoop(
  parts: RightsizingLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, log } = parts;
  const { policies, ...others } = caches;
  // A cache without its autoscalers would say that there are none.
  const copies = { ...others, "pods, nodes and autoscalers": parts.cluster, ...parts.first };
  if (!await awaitDiscovery({ ...parts, policies, copies }, signal)) return;
  const loop = createLoop(parts, signal);
  const { records } = loop.cycle;
  const subscriptions = [
    policies.subscribe((key) => onPolicyEvent(loop, key)),
    ...[caches.deployments, caches.statefulSets, caches.daemonSets].map((cache) =>
      cache.subscribe((key) => onWorkloadEvent(loop, cache.get(key)))
    ),
  ];
  // At the beginning each has a cycle of its own anyway.
  for (const policy of policies.all()) {
    const key = objectKey(policy.metadata);
    if (loop.changes.hasChanged(key)) startAnew(loop, key);
  }
  try {
    await Promise.all([
      runReconcileLoop({
        queue: loop.queue,
        reconcile: (key, term) => reconcilePolicy(loop, key, term),
        backoff: createBackoff({ maxMs: GARBAGE_MS }),
        clock,
        log,
        workers: POLICIES_AT_ONCE,
      }, signal),
      runGarbageCollection(loop, signal),
      writeAppliedRecords({ records, clock, log }, signal),
    ]);
  } finally {
    for (const end of subscriptions) end();
    await records.flush();
  }
}

function createLoop(parts: RightsizingLoopParts, signal: AbortSignal): Loop {
  const { caches, clock, random, log, config, events } = parts;
  const records = createRecordStore({
    reports: caches.reports.all(),
    store: parts.reports,
    clock,
    log,
    signal,
  });
  return {
    ...parts,
    cycle: {
      ...parts,
      records,
      denials: new Map(),
      permits: createPermits(() => config.workers),
      outcomes: new Map(),
      underWay: new Map(),
    },
    vpas: createPublishedVPAs({
      copy: caches.verticalPodAutoscalers,
      publisher: parts.vpaPublisher,
      events,
      log,
    }),
    changes: trackPolicyChanges({
      policies: caches.policies,
      workloads: () => allWorkloads(caches),
      input: () => policyInput(caches.namespaces, config),
    }),
    queue: createWorkQueue(clock),
    retries: createBackoff({ random, maxMs: LONGEST_RETRY_MS }),
    dueAt: new Map(),
    changed: new Set(),
    running: new Map(),
    seen: new Set(),
    pending: new Map(),
  };
}

/** One cycle of a policy with its report, and when to reconcile it again. */
async function reconcilePolicy(
  loop: Loop,
  key: string,
  term: AbortSignal,
): Promise<ReconcileResult> {
  const { caches: { policies }, clock, changed, dueAt, running, observer } = loop;
  const policy = policies.get(key);
  if (policy === undefined) {
    dueAt.delete(key);
    changed.delete(key);
    const [namespace = "", name = ""] = key.split("/");
    observer?.policyGone?.({ namespace, name });
    return {};
  }
  const begunAt = clock.monotonic();
  const isWhole = changed.delete(key) || begunAt >= (dueAt.get(key) ?? -Infinity);
  const stop = new AbortController();
  running.set(key, stop);
  const signal = AbortSignal.any([term, stop.signal]);
  let outcome: CycleOutcome | undefined;
  let retryMs = Infinity;
  try {
    outcome = await runCycle(loop, policy, { isWhole, signal });
    // Before the report can fail: a retry of the report reconciles these again, too.
    retryMs = retryDelay(loop, outcome);
    await reportCycle(policy, {
      ...loop,
      outcome,
      present: policies.get(key),
      permits: loop.cycle.permits,
      writer: loop.appliers.workloads,
      signal,
    });
    observer?.cycleEnded?.(policy.metadata, { tookMs: clock.monotonic() - begunAt, outcome });
  } catch (error) {
    // With an outcome only the report is left, and the next cycle repeats it.
    if (isWhole && outcome === undefined) changed.add(key);
    observer?.cycleEnded?.(policy.metadata, {
      tookMs: clock.monotonic() - begunAt,
      ...(outcome === undefined ? {} : { outcome }),
      error: outcome === undefined ? "CycleFailed" : "StatusNotWritten",
    });
    // 404: the policy is gone.
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  } finally {
    running.delete(key);
  }
  if (outcome?.aborted !== false || isIdle(policy)) return {};
  const dueInMs = Math.max(0, (dueAt.get(key) ?? 0) - clock.monotonic());
  return { requeueAfterMs: Math.min(dueInMs, retryMs) };
}

/** Runs the cycle, emits its events and writes its records. */
async function runCycle(
  loop: Loop,
  policy: StoredPolicy,
  { isWhole, signal }: { readonly isWhole: boolean; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  const { caches, clock, config, cycle, dueAt, events, pending, random } = loop;
  const begunAt = clock.monotonic();
  const outcome = await runPolicyCycle(policy, {
    ...policyInput(caches.namespaces, config),
    policies: [...caches.policies.all()],
    workloads: Array.from(allWorkloads(caches), foundWorkload),
    dryRun: config.dryRun,
    sampler: config.sampler,
    ...(isWhole ? {} : { only: new Set(pending.keys()) }),
  }, { parts: cycle, signal });
  const { reconciled } = outcome;
  for (const { workload } of reconciled) {
    const key = workloadKey(workload);
    // A workload that was recreated meanwhile is still new.
    if (pending.get(key) === workload.metadata.uid) pending.delete(key);
  }
  if (isWhole && !outcome.aborted && policy.spec !== undefined) {
    const share = 1 - LEAST_JITTER * (1 + random.next());
    dueAt.set(objectKey(policy.metadata), begunAt + policy.spec.intervalMs * share);
  }
  emitCycleEvents(policy, { reconciled, events });
  await cycle.records.flush();
  const unwritten = unwrittenRecord(outcome, cycle.records);
  return unwritten === undefined ? outcome : { ...outcome, unwritten };
}

/** When to retry what failed for a while, or on an old version; Infinity where nothing did. */
function retryDelay({ retries, pending }: Loop, { reconciled }: CycleOutcome): number {
  let soonest = Infinity;
  for (const { workload, outcome: { failure } } of reconciled) {
    const key = workloadKey(workload);
    if (failure?.next !== "back-off" && failure?.next !== "fresh") {
      retries.reset(key);
      continue;
    }
    pending.set(key, workload.metadata.uid);
    soonest = Math.min(soonest, Math.max(retries.next(key), failure.retryAfterMs ?? 0));
  }
  return soonest;
}

/** A policy starts anew when its spec has changed; a change of its status does not count. */
function onPolicyEvent(loop: Loop, key: string): void {
  if (!loop.changes.hasChanged(key)) return;
  startAnew(loop, key);
  for (const other of loop.changes.affected(key)) loop.queue.add(other, NEW_WORKLOADS_MS);
}

function startAnew({ caches, running, changed, queue, events }: Loop, key: string): void {
  const policy = caches.policies.get(key);
  // The cycle under way follows the old spec.
  running.get(key)?.abort();
  changed.add(key);
  queue.add(key);
  if (policy !== undefined && policy.spec === undefined) {
    const message = eventMessage("ValidationFailed", validationProblem(policy.faults).message);
    const about = policySubject(policy);
    events.emit({ about, type: "Warning", reason: "ValidationFailed", message });
  }
}

/** Queues the policy of a workload that is new. */
function onWorkloadEvent(
  { caches, config, seen, pending, queue }: Loop,
  found: Workload | undefined,
): void {
  const workload = found && rightsizedWorkload(found);
  if (workload === undefined) return;
  const identity = identityOf(workload);
  if (seen.has(identity)) return;
  seen.add(identity);
  pending.set(workloadKey(workload), workload.metadata.uid);
  const [winner] = policiesFor(workload, {
    ...policyInput(caches.namespaces, config),
    policies: readablePolicies(caches.policies.all()),
  });
  if (winner !== undefined) queue.add(objectKey(winner.metadata), NEW_WORKLOADS_MS);
}

async function runGarbageCollection(loop: Loop, signal: AbortSignal): Promise<void> {
  const { caches, clock, config, cycle, pending, retries, seen } = loop;
  while (!signal.aborted) {
    await clock.sleep(GARBAGE_MS, signal);
    if (signal.aborted) return;
    const workloads = new Map(
      Array.from(allWorkloads(caches), (one) => [workloadKey(one), one] as const),
    );
    await collectGarbage({
      ...policyInput(caches.namespaces, config),
      workloads,
      policies: [...caches.policies.all()],
      annotateWorkloads: config.annotateWorkloads,
      nowMs: clock.wall(),
      records: cycle.records,
      writer: loop.appliers.workloads,
      vpas: loop.vpas,
      permits: cycle.permits,
      log: loop.log,
    });
    for (const kept of [cycle.outcomes, cycle.denials, pending]) {
      for (const key of [...kept.keys()]) {
        if (workloads.has(key)) continue;
        kept.delete(key);
        retries.reset(key);
      }
    }
    loop.cluster.keepOnly((key) => workloads.has(key));
    const identities = new Set([...workloads.values()].map(identityOf));
    for (const identity of [...seen]) if (!identities.has(identity)) seen.delete(identity);
  }
}

function* allWorkloads(
  { deployments, statefulSets, daemonSets }: RightsizingCaches,
): Iterable<Workload> {
  for (const cache of [deployments, statefulSets, daemonSets]) yield* cache.all();
}

/** A workload that was deleted and made again is another. */
function identityOf(workload: Pick<Workload, "kind" | "metadata">): string {
  return `${workloadKey(workload)} ${workload.metadata.uid}`;
}

/** No cycle is due until it changes. */
function isIdle({ spec }: StoredPolicy): boolean {
  return spec === undefined || spec.mode === "Disabled";
}
