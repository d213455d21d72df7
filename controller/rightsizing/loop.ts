/**
 * The loop of rightsizing: a cycle of each policy once in its interval, and soon for new workloads.
 *
 * `PolicySchedule` queues the policies that are due. `reconcilePolicy()` runs a cycle, emits events, writes
 * records and reports.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { createPermits, type Permits } from "../../shared/control/permits.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { within } from "../../shared/control/time_limit.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import {
  buildPolicyStatus,
  validationProblem,
} from "../../shared/rightsizing/build_policy_status.ts";
import { workloadKey } from "../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import { type Caches, workloadCaches } from "../caches.ts";
import type { RightsizingInformers } from "./api.ts";
import type { ClusterSnapshots } from "./cluster_snapshots.ts";
import { isDryRun, policyInput, type RightsizingSettings } from "./config.ts";
import { emitCycleEvents, policyWarning } from "./events.ts";
import type { RightsizingObserver } from "./metrics.ts";
import { collectGarbage } from "./policies/garbage_collection.ts";
import { type CycleOutcome, type CycleParts, PolicyCycles } from "./policies/policy_cycle.ts";
import { type DueCycle, PolicySchedule } from "./policies/policy_schedule.ts";
import { PublishedVPAs } from "./policies/published_vpas.ts";
import { reportCycle, unwrittenRecord } from "./policies/report_cycle.ts";
import type { RightsizingEvents } from "./ports.ts";
import type {
  PolicyStatusWriter,
  ReportStore,
  VPAPublisher,
} from "../../shared/rightsizing/ports.ts";
import { RecordStore, writeAppliedRecords } from "./store.ts";

/** A cache, or other state that is loaded at the start. */
export interface Synced {
  /** Resolves with true once it is complete; with false if `signal` is aborted before. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
}

/** Dependencies of the loop. */
export interface RightsizingLoopParts
  extends Pick<CycleParts, "sources" | "appliers" | "lacksPermission"> {
  readonly caches: Caches & RightsizingInformers;
  readonly cluster: ClusterSnapshots;
  /** Other state that the first cycle waits for, by a name for messages. @default none */
  readonly startupState?: Readonly<Record<string, Synced>>;
  readonly statuses: PolicyStatusWriter;
  readonly reports: ReportStore;
  readonly vpaPublisher: VPAPublisher;
  readonly events: RightsizingEvents;
  readonly settings: () => RightsizingSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer?: RightsizingObserver | undefined;
}

/** Policies with cycles that run at the same time; the number of workloads is a setting. */
const POLICIES_AT_ONCE = 4;
/** Between two garbage collections, ms. */
const GARBAGE_MS = 60_000;
/** Between two reports of missing caches, ms: time enough for a busy API server to list its objects. */
const REPORT_MISSING_MS = 30_000;

interface Loop extends RightsizingLoopParts {
  readonly records: RecordStore;
  readonly permits: Permits;
  readonly cycles: PolicyCycles;
  readonly vpas: PublishedVPAs;
  readonly schedule: PolicySchedule;
}

/** Runs until `signal` is aborted, then completes reconciles in progress. */
export async function runRightsizingLoop(
  parts: RightsizingLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, log } = parts;
  const discovery = { ...parts, policies: caches.policies, caches: cachesOf(parts) };
  if (!await awaitDiscovery(discovery, signal)) return;
  const loop = createLoop(parts, signal);
  const { records, schedule } = loop;
  const subscriptions = [
    caches.policies.subscribe((key) => {
      const versions = schedulePolicy(loop, key);
      if (versions !== undefined) schedule.queueAffected(key, versions);
    }),
    ...workloadCaches(caches).map((cache) =>
      cache.subscribe((key) => schedule.workloadChanged(cache.get(key)))
    ),
  ];
  for (const policy of caches.policies.all()) schedulePolicy(loop, objectKey(policy.metadata));
  try {
    await Promise.all([
      runReconcileLoop({
        queue: schedule.queue,
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
  const { caches, settings, vpaPublisher: publisher } = parts;
  const reports = caches.reports.all();
  const records = new RecordStore({ ...parts, reports, store: parts.reports, signal });
  const permits = createPermits(() => settings().rightsizingWorkers);
  return {
    ...{ ...parts, records, permits },
    cycles: new PolicyCycles({ ...parts, records, permits }),
    vpas: new PublishedVPAs({ ...parts, cache: caches.verticalPodAutoscalers, publisher }),
    schedule: new PolicySchedule({
      ...parts,
      policies: caches.policies,
      workloads: () => allWorkloads(caches),
      input: () => policyInput(caches.namespaces, settings()),
    }),
  };
}

/** Queues a policy that has changed; emits an event where its spec is not valid. Returns its versions. */
function schedulePolicy(
  { caches, schedule, events }: Loop,
  key: string,
): readonly StoredPolicy[] | undefined {
  const versions = schedule.policyChanged(key);
  const policy = caches.policies.get(key);
  if (versions !== undefined && policy !== undefined && policy.spec === undefined) {
    events.emit(policyWarning(policy, {
      event: "ValidationFailed",
      ...validationProblem(policy.faults),
    }));
  }
  return versions;
}

/** Runs one cycle of a policy with its report; returns when the next one is due. */
async function reconcilePolicy(
  loop: Loop,
  key: string,
  term: AbortSignal,
): Promise<ReconcileResult> {
  const { caches: { policies }, clock, observer, schedule } = loop;
  const policy = policies.get(key);
  if (policy === undefined) {
    schedule.policyGone(key);
    const [namespace = "", name = ""] = key.split("/");
    observer?.policyGone?.({ namespace, name });
    return {};
  }
  const cycle = schedule.begin(policy, term);
  let ran: { readonly outcome: CycleOutcome; readonly retryMs: number } | undefined;
  let isReported = false;
  try {
    ran = await runCycle(loop, cycle);
    await reportCycle(policy, {
      ...loop,
      outcome: ran.outcome,
      present: policies.get(key),
      writer: loop.appliers.workloads,
      signal: cycle.signal,
    });
    isReported = true;
  } catch (error) {
    // 404: the policy is deleted.
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  } finally {
    schedule.end(cycle, { hasOutcome: ran !== undefined });
    observer?.cycleEnded?.(policy.metadata, {
      tookMs: clock.monotonic() - cycle.begunAt,
      ...(ran && { outcome: ran.outcome }),
      ...(!isReported && { error: ran === undefined ? "CycleFailed" : "StatusNotWritten" }),
    });
  }
  const isIdle = policy.spec === undefined || policy.spec.mode === "Disabled";
  if (ran === undefined || ran.outcome.aborted || isIdle) return {};
  return { requeueAfterMs: Math.min(schedule.dueInMs(key), ran.retryMs) };
}

/** Runs the cycle, emits its events and writes its records. */
async function runCycle(
  { caches, settings, cycles, records, events, schedule }: Loop,
  cycle: DueCycle,
): Promise<{ readonly outcome: CycleOutcome; readonly retryMs: number }> {
  const { policy, only, signal } = cycle;
  const outcome = await cycles.run(policy, {
    ...policyInput(caches.namespaces, settings()),
    policies: [...caches.policies.all()],
    workloads: allWorkloads(caches),
    only,
    signal,
  });
  const retryMs = schedule.reconciled(cycle, outcome);
  emitCycleEvents(policy, { reconciled: outcome.reconciled, events });
  await records.flush();
  return { outcome: { ...outcome, unwritten: unwrittenRecord(outcome, records) }, retryMs };
}

async function runGarbageCollection(loop: Loop, signal: AbortSignal): Promise<void> {
  const { caches, clock, settings, cycles, schedule, cluster } = loop;
  while (!signal.aborted) {
    await clock.sleep(GARBAGE_MS, signal);
    if (signal.aborted) return;
    const workloads = new Map(
      Array.from(allWorkloads(caches), (one) => [workloadKey(one), one] as const),
    );
    await collectGarbage({
      ...{ ...loop, ...policyInput(caches.namespaces, settings()), workloads },
      policies: [...caches.policies.all()],
      annotateWorkloads: settings().annotateWorkloads,
      nowMs: clock.wall(),
      writer: loop.appliers.workloads,
    });
    for (const state of [cycles, cluster]) state.keepOnly((key) => workloads.has(key));
    schedule.keepOnly(workloads);
  }
}

function* allWorkloads(caches: Caches): Iterable<Workload> {
  for (const cache of workloadCaches(caches)) yield* cache.all();
}

/** The caches that the first cycle waits for, by a name for messages. */
function cachesOf(
  { caches, startupState }: RightsizingLoopParts,
): Readonly<Record<string, Synced>> {
  // A workload without its bounds in the caches would be changed in spite of them.
  const { policies: _policies, leases: _leases, ...read } = caches;
  return { ...read, ...startupState };
}

/** The caches to wait for, and the ports that report a long wait. */
export interface DiscoveryParts
  extends Pick<RightsizingLoopParts, "statuses" | "events" | "settings" | "clock" | "log"> {
  readonly policies: Pick<RightsizingInformers["policies"], "all" | "whenSynced">;
  /** By a name for messages. */
  readonly caches: Readonly<Record<string, Synced>>;
}

/**
 * Resolves with true once all caches are complete; with false if `signal` is aborted before. After half a minute,
 * missing caches are reported on each enabled policy, once for each of its generations.
 */
export async function awaitDiscovery(
  parts: DiscoveryParts,
  signal: AbortSignal,
): Promise<boolean> {
  const { policies, caches, clock, log } = parts;
  const all: Record<string, Synced> = { policies, ...caches };
  const missing = new Set(Object.keys(all));
  const waits = Promise.all(
    Object.entries(all).map(async ([name, cache]) => {
      if (await cache.whenSynced(signal)) missing.delete(name);
    }),
  ).then(() => true);
  const reported = new Set<string>();
  const limit = { clock, ms: REPORT_MISSING_MS, onTimeout: () => false };
  for (let waitedMs = limit.ms; !await within(() => waits, limit); waitedMs += limit.ms) {
    const what = [...missing].toSorted().join(", ");
    if (waitedMs === limit.ms) {
      log.warn("Caches are still missing: no workload is reconciled", { what });
    }
    const message = `the API server has not listed ${what} for ${waitedMs / 1000} s`;
    for (const policy of policies.all()) {
      if (missing.size === 0 || signal.aborted) break;
      if (policy.spec === undefined || policy.spec.mode === "Disabled") continue;
      const version = `${policy.metadata.uid} ${policy.metadata.generation}`;
      if (reported.has(version)) continue;
      reported.add(version);
      await reportUndiscovered(policy, message, parts);
    }
  }
  return missing.size === 0;
}

async function reportUndiscovered(
  policy: StoredPolicy,
  message: string,
  { statuses, events, settings, clock, log }: DiscoveryParts,
): Promise<void> {
  const problem = { reason: "DiscoveryFailed", message } as const;
  events.emit(policyWarning(policy, { event: problem.reason, ...problem }));
  const status = buildPolicyStatus({
    nowMs: clock.wall(),
    generation: policy.metadata.generation,
    before: policy.status,
    dryRun: isDryRun(settings()),
    problem,
  });
  try {
    await statuses.writeStatus(policy, status);
  } catch (error) {
    log.warn("Failed to write policy status", { error: String(error) });
  }
}
