/**
 * The clock of hours: looks at every policy's workloads once in its interval, and at new ones soon.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { VerticalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../shared/control/work_queue.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { validationProblem } from "../../shared/rightsizing/build_policy_status.ts";
import { eventMessage } from "../../shared/rightsizing/guards/workload_events.ts";
import {
  policiesFor,
  type PolicySurroundings,
  readablePolicies,
  workloadKey,
} from "../../shared/rightsizing/policy_choice.ts";
import { foundWorkload, rightsizedWorkload } from "../../shared/rightsizing/rightsized_workload.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import { awaitDiscovery, type Synced } from "./await_discovery.ts";
import type { RightsizingEvents } from "./loop_ports.ts";
import type { PolicyStatusWriter, ReportStore, VPAPublisher } from "./policy_ports.ts";
import { type CycleOutcome, type CycleParts, runPolicyCycle } from "./policy_cycle.ts";
import { createPolicyNews } from "./policy_news.ts";
import { policySurroundings } from "./policy_surroundings.ts";
import { keepHouse } from "./keep_house.ts";
import { keepRecord } from "./keep_record.ts";
import { createPublishedVPAs } from "./published_vpas.ts";
import { createRecordBook } from "./record_book.ts";
import type { RightsizingConfig } from "./rightsizing_config.ts";
import type { RightsizingObserver } from "./rightsizing_observer.ts";
import { tellCycle } from "./tell_cycle.ts";
import { policySubject, tellEvents } from "./told_workloads.ts";
import { unwrittenRecord } from "./unwritten_record.ts";

/** The copies that the loop reads. */
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
  extends Pick<CycleParts, "sources" | "cluster" | "hands" | "lacksPermission"> {
  readonly caches: RightsizingCaches;
  /** What else is waited for before the first look, by a name for people. @default nothing */
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

/** Policies whose cycles run at the same time; how many workloads do is a setting. */
const POLICIES_AT_ONCE = 4;
/** New workloads come in crowds: one look at all that came within this time, ms. */
const NEW_WORKLOADS_MS = 2000;
/** Between two looks for what no policy is for any more, ms. */
const HOUSEKEEPING_MS = 60_000;
/** Between two tries of what failed for a while, ms at most. */
const LONGEST_RETRY_MS = 300_000;
/** A cycle begins by 5 to 10 % sooner than its interval ends, so that policies do not keep step. */
const LEAST_JITTER = 0.05;

/** Runs until `signal` is aborted; what is under way then is brought to its end. */
// deno-lint-ignore house/function-length
export async function runRightsizingLoop(
  parts: RightsizingLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, random, log, config, observer } = parts;
  const { policies: _own, ...copies } = caches;
  // A copy without its autoscalers would tell that there are none.
  const all = { ...copies, "pods, nodes and autoscalers": parts.cluster, ...parts.first };
  if (!await awaitDiscovery({ ...parts, policies: caches.policies, copies: all }, signal)) return;
  const { policies, deployments, statefulSets, daemonSets } = caches;
  const book = createRecordBook({
    reports: caches.reports.all(),
    store: parts.reports,
    clock,
    log,
    signal,
  });
  const vpas = createPublishedVPAs({
    copy: caches.verticalPodAutoscalers,
    publisher: parts.vpaPublisher,
    events: parts.events,
    log,
  });
  const cycleParts: CycleParts = {
    ...parts,
    book,
    denials: new Map(),
    permits: createPermits(() => config.workers),
    past: new Map(),
    underWay: new Map(),
  };
  const queue = createWorkQueue(clock);
  /** When each policy's next whole cycle is due, by the monotonic clock. */
  const dueAt = new Map<string, number>();
  /** Policies whose next cycle is a whole one whenever it is: something about them has changed. */
  const anew = new Set<string>();
  /** Cycles under way. */
  const running = new Map<string, AbortController>();
  const seen = new Set<string>();
  /** UIDs of workloads that are new and have not been looked at, or are to be looked at again soon. */
  const fresh = new Map<string, string>();
  const retries = createBackoff({ random, maxMs: LONGEST_RETRY_MS });

  function* everyWorkload(): Iterable<Workload> {
    for (const copy of [deployments, statefulSets, daemonSets]) yield* copy.all();
  }

  const surroundings = (): PolicySurroundings => policySurroundings(caches.namespaces, config);

  async function cycle(key: string, term: AbortSignal): Promise<ReconcileResult> {
    const policy = policies.get(key);
    if (policy === undefined) {
      dueAt.delete(key);
      anew.delete(key);
      const [namespace = "", name = ""] = key.split("/");
      observer?.policyGone?.({ namespace, name });
      return {};
    }
    const begunAt = clock.monotonic();
    const isWhole = anew.delete(key) || begunAt >= (dueAt.get(key) ?? -Infinity);
    const isOver = new AbortController();
    running.set(key, isOver);
    const now = AbortSignal.any([term, isOver.signal]);
    let outcome: CycleOutcome | undefined;
    let retryMs = Infinity;
    try {
      outcome = await lookAt(policy, { isWhole, signal: now });
      // Before anything can fail: a try for the status looks at these again, too.
      retryMs = retryInMs(outcome);
      await tellCycle(policy, {
        ...parts,
        outcome,
        present: policies.get(key),
        vpas,
        permits: cycleParts.permits,
        writer: parts.hands.workloads,
        signal: now,
      });
      observer?.cycleEnded?.(policy.metadata, { tookMs: clock.monotonic() - begunAt, outcome });
    } catch (error) {
      // With an outcome only the status is left, and that is told anew with what is known.
      if (isWhole && outcome === undefined) anew.add(key);
      observer?.cycleEnded?.(policy.metadata, {
        tookMs: clock.monotonic() - begunAt,
        ...(outcome === undefined ? {} : { outcome }),
        error: outcome === undefined ? "CycleFailed" : "StatusNotWritten",
      });
      // Of a policy that is gone nobody wants to read.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    } finally {
      running.delete(key);
    }
    if (outcome?.calledOff !== false || isIdle(policy)) return {};
    const dueInMs = Math.max(0, (dueAt.get(key) ?? 0) - clock.monotonic());
    return { requeueAfterMs: Math.min(dueInMs, retryMs) };
  }

  /** Looks, and tells events and reports. */
  async function lookAt(
    policy: StoredPolicy,
    { isWhole, signal: term }: { readonly isWhole: boolean; readonly signal: AbortSignal },
  ): Promise<CycleOutcome> {
    const begunAt = clock.monotonic();
    const outcome = await runPolicyCycle(policy, {
      ...surroundings(),
      policies: [...policies.all()],
      workloads: Array.from(everyWorkload(), foundWorkload),
      dryRun: config.dryRun,
      sampler: config.sampler,
      ...(isWhole ? {} : { only: new Set(fresh.keys()) }),
    }, { parts: cycleParts, signal: term });
    const { looked } = outcome;
    for (const { workload } of looked) {
      const key = workloadKey(workload);
      // One that was made again meanwhile is still new.
      if (fresh.get(key) === workload.metadata.uid) fresh.delete(key);
    }
    if (isWhole && !outcome.calledOff && policy.spec !== undefined) {
      const { namespace, name } = policy.metadata;
      const share = 1 - LEAST_JITTER * (1 + random.next());
      dueAt.set(`${namespace}/${name}`, begunAt + policy.spec.intervalMs * share);
    }
    tellEvents(policy, { looked, events: parts.events });
    await book.flush();
    const unwritten = unwrittenRecord(outcome, book);
    return unwritten === undefined ? outcome : { ...outcome, unwritten };
  }

  /** What failed for a while, or on an old version, is not left until the next cycle; Infinity: nothing. */
  function retryInMs({ looked }: CycleOutcome): number {
    let soonest = Infinity;
    for (const { workload, outcome: { failure } } of looked) {
      const key = workloadKey(workload);
      if (failure?.next !== "back-off" && failure?.next !== "fresh") {
        retries.reset(key);
        continue;
      }
      fresh.set(key, workload.metadata.uid);
      soonest = Math.min(soonest, Math.max(retries.next(key), failure.retryAfterMs ?? 0));
    }
    return soonest;
  }

  const news = createPolicyNews({ policies, workloads: everyWorkload, surroundings });

  /** A policy that has changed is looked at anew; its own status is no change. */
  function hearPolicy(key: string): void {
    if (!news.hear(key)) return;
    beginAnew(key);
    // They look at what they have won.
    for (const other of news.neighbours(key)) queue.add(other, NEW_WORKLOADS_MS);
  }

  function beginAnew(key: string): void {
    const policy = policies.get(key);
    // What it does not say any more is not done any more.
    running.get(key)?.abort();
    anew.add(key);
    queue.add(key);
    if (policy !== undefined && policy.spec === undefined) {
      const message = eventMessage("ValidationFailed", validationProblem(policy.faults).message);
      const about = policySubject(policy);
      parts.events.emit({ about, type: "Warning", reason: "ValidationFailed", message });
    }
  }

  function hearWorkload(copy: Informer<Workload>): (key: string) => void {
    return (key) => {
      const found = copy.get(key);
      const workload = found && rightsizedWorkload(found);
      if (workload === undefined) return;
      const name = identityOf(workload);
      if (seen.has(name)) return;
      seen.add(name);
      fresh.set(workloadKey(workload), workload.metadata.uid);
      const [winner] = policiesFor(workload, {
        ...surroundings(),
        policies: readablePolicies(policies.all()),
      });
      if (winner === undefined) return;
      const { metadata } = winner;
      queue.add(`${metadata.namespace}/${metadata.name}`, NEW_WORKLOADS_MS);
    };
  }

  async function housekeeping(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(HOUSEKEEPING_MS, signal);
      if (signal.aborted) return;
      const workloadsThere = new Map(
        Array.from(everyWorkload(), (one) => [workloadKey(one), one] as const),
      );
      await keepHouse({
        ...surroundings(),
        workloads: workloadsThere,
        policies: [...policies.all()],
        annotateWorkloads: config.annotateWorkloads,
        nowMs: clock.wall(),
        book,
        writer: parts.hands.workloads,
        vpas,
        permits: cycleParts.permits,
        log,
      });
      for (const kept of [cycleParts.past, cycleParts.denials, fresh]) {
        for (const key of [...kept.keys()]) {
          if (workloadsThere.has(key)) continue;
          kept.delete(key);
          retries.reset(key);
        }
      }
      parts.cluster.keepOnly((key) => workloadsThere.has(key));
      const names = new Set([...workloadsThere.values()].map(identityOf));
      for (const name of [...seen]) if (!names.has(name)) seen.delete(name);
    }
  }

  const ends = [
    policies.subscribe(hearPolicy),
    ...[deployments, statefulSets, daemonSets].map((copy) => copy.subscribe(hearWorkload(copy))),
  ];
  for (const { metadata: { namespace, name } } of policies.all()) {
    const key = `${namespace}/${name}`;
    // At the beginning all do, whoever is beside them.
    if (news.hear(key)) beginAnew(key);
  }
  try {
    await Promise.all([
      runReconcileLoop({
        queue,
        reconcile: cycle,
        backoff: createBackoff({ maxMs: HOUSEKEEPING_MS }),
        clock,
        log,
        workers: POLICIES_AT_ONCE,
      }, signal),
      housekeeping(),
      keepRecord({ book, clock, log }, signal),
    ]);
  } finally {
    for (const end of ends) end();
    await book.flush();
  }
}

/** One that was deleted and made again is another. */
function identityOf(workload: Pick<Workload, "kind" | "metadata">): string {
  return `${workloadKey(workload)} ${workload.metadata.uid}`;
}

/** Nothing is asked for it until it changes. */
function isIdle({ spec }: StoredPolicy): boolean {
  return spec === undefined || spec.mode === "Disabled";
}
