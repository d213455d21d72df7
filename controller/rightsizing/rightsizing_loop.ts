/**
 * The clock of hours: looks at every policy's workloads once in its interval, and at new ones soon.
 *
 * @module
 */
import { isOwnAnnotation } from "../../shared/actuation/methods/workload_annotations.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
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
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { policiesFor, workloadKey } from "../../shared/rightsizing/policy_choice.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { rightsizedWorkload } from "../../shared/rightsizing/rightsized_workload.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { RightsizingEvents } from "./loop_ports.ts";
import type { PolicyStatusWriter, ReportStore } from "./policy_ports.ts";
import { type CycleParts, type CycleState, runPolicyCycle } from "./policy_cycle.ts";
import { createRecordBook } from "./record_book.ts";
import type { RightsizingConfig } from "./rightsizing_config.ts";
import type { RightsizingObserver } from "./rightsizing_observer.ts";
import { policySubject, tellAnnotations, tellEvents } from "./told_workloads.ts";

/** The copies that the loop reads. */
export interface RightsizingCaches {
  readonly policies: Informer<StoredPolicy>;
  readonly reports: Informer<RecommendationReport>;
  readonly namespaces: Informer<Namespace>;
  readonly deployments: Informer<Workload>;
  readonly statefulSets: Informer<Workload>;
  readonly daemonSets: Informer<Workload>;
}

/** What the loop works with. */
export interface RightsizingLoopParts extends Pick<CycleParts, "sources" | "cluster" | "hands"> {
  readonly caches: RightsizingCaches;
  readonly statuses: PolicyStatusWriter;
  readonly reports: ReportStore;
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
/** A cycle begins by 5 to 10 % sooner than its interval ends, so that policies do not keep step. */
const LEAST_JITTER = 0.05;

type ReadablePolicy = StoredPolicy & { readonly spec: PolicySpec };

/** Runs until `signal` is aborted; what is under way then is brought to its end. */
export async function runRightsizingLoop(
  parts: RightsizingLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, random, log, config, observer } = parts;
  for (const copy of Object.values(caches)) {
    if (!await copy.whenSynced(signal)) return;
  }
  const { policies, deployments, statefulSets, daemonSets } = caches;
  const book = createRecordBook({ reports: caches.reports.all(), store: parts.reports, log });
  const cycleParts: CycleParts = {
    ...parts,
    book,
    denials: new Map(),
    permits: createPermits(() => config.workers),
    past: new Map(),
  };
  const queue = createWorkQueue(clock);
  /** When each policy's next whole cycle is due, by the monotonic clock. */
  const dueAt = new Map<string, number>();
  const seen = new Set<string>();
  /** Workloads that are new and have not been looked at. */
  const fresh = new Set<string>();

  function* workloads(): Iterable<RightsizedWorkload> {
    for (const copy of [deployments, statefulSets, daemonSets]) {
      for (const one of copy.all()) {
        const workload = rightsizedWorkload(one);
        if (workload !== undefined) yield workload;
      }
    }
  }

  function surroundings(): Pick<CycleState, "namespaces" | "policyNamespaces"> {
    const labels = Array.from(
      caches.namespaces.all(),
      ({ metadata }) => [metadata.name, metadata.labels] as const,
    );
    return { namespaces: new Map(labels), policyNamespaces: config.policyNamespaces };
  }

  async function cycle(key: string, term: AbortSignal): Promise<ReconcileResult> {
    const policy = policies.get(key);
    if (policy === undefined) {
      dueAt.delete(key);
      const [namespace = "", name = ""] = key.split("/");
      observer?.policyGone?.({ namespace, name });
      return {};
    }
    const begunAt = clock.monotonic();
    const isWhole = begunAt >= (dueAt.get(key) ?? -Infinity);
    const only = isWhole ? undefined : new Set(fresh);
    const outcome = await runPolicyCycle(policy, {
      ...surroundings(),
      policies: [...policies.all()],
      workloads: [...workloads()],
      dryRun: config.dryRun,
      ...(only === undefined ? {} : { only }),
    }, { parts: cycleParts, signal: term });
    for (const { workload } of outcome.looked) fresh.delete(workloadKey(workload));
    await book.flush();
    tellEvents(policy, { ...outcome, events: parts.events });
    if (config.annotateWorkloads) {
      await tellAnnotations(
        outcome.looked.map(({ workload, outcome: { record } }) => ({ workload, record })),
        { workloads: parts.hands.workloads, log },
      );
    }
    observer?.cycleEnded?.(policy.metadata, { tookMs: clock.monotonic() - begunAt, outcome });
    if (policy.spec === undefined || policy.spec.mode === "Disabled") return {};
    if (isWhole) {
      const share = 1 - LEAST_JITTER * (1 + random.next());
      dueAt.set(key, begunAt + policy.spec.intervalMs * share);
    }
    return { requeueAfterMs: Math.max(0, (dueAt.get(key) ?? 0) - clock.monotonic()) };
  }

  /** A policy that has changed is looked at anew; its own status is no change. */
  const generations = new Map<string, string>();
  function hearPolicy(key: string): void {
    const policy = policies.get(key);
    const now = policy && `${policy.metadata.uid} ${policy.metadata.generation}`;
    if (now !== undefined && generations.get(key) === now) return;
    if (now === undefined) generations.delete(key);
    else generations.set(key, now);
    dueAt.delete(key);
    queue.add(key);
    if (policy !== undefined && policy.spec === undefined) {
      const { message } = validationProblem(policy.faults);
      const about = policySubject(policy);
      parts.events.emit({ about, type: "Warning", reason: "ValidationFailed", message });
    }
    // Another policy may win now, or no more.
    for (const other of policies.all()) dueSoon(other);
  }

  function dueSoon({ metadata: { namespace, name } }: StoredPolicy): void {
    const key = `${namespace}/${name}`;
    dueAt.delete(key);
    queue.add(key, NEW_WORKLOADS_MS);
  }

  function hearWorkload(copy: Informer<Workload>): (key: string) => void {
    return (key) => {
      const found = copy.get(key);
      const workload = found && rightsizedWorkload(found);
      if (workload === undefined) return;
      const name = identityOf(workload);
      if (seen.has(name)) return;
      seen.add(name);
      fresh.add(workloadKey(workload));
      const [winner] = policiesFor(workload, { ...surroundings(), policies: readablePolicies() });
      if (winner === undefined) return;
      const { metadata } = winner;
      queue.add(`${metadata.namespace}/${metadata.name}`, NEW_WORKLOADS_MS);
    };
  }

  function readablePolicies(): readonly ReadablePolicy[] {
    return [...policies.all()].filter((one): one is ReadablePolicy => one.spec !== undefined);
  }

  /** What no policy is for any more is forgotten, and so are the words on it. */
  async function keepHouse(): Promise<void> {
    const there = new Map(Array.from(workloads(), (one) => [workloadKey(one), one]));
    const around = surroundings();
    const enabled = readablePolicies();
    // A disabled policy keeps what it knows.
    const all = enabled.map((one) => ({
      ...one,
      spec: { ...one.spec, mode: "Recommend" as const },
    }));
    book.keepOnly(({ kind, namespace, name }) => {
      const workload = there.get(`${kind}/${namespace}/${name}`);
      return workload !== undefined &&
        policiesFor(workload, { ...around, policies: all }).length > 0;
    });
    await book.flush();
    const told = [...there.values()].filter((workload) =>
      Object.keys(workload.metadata.annotations).some(isOwnAnnotation) &&
      (!config.annotateWorkloads ||
        policiesFor(workload, { ...around, policies: enabled }).length === 0)
    );
    await tellAnnotations(
      told.map((workload) => ({ workload, record: undefined })),
      { workloads: parts.hands.workloads, log },
    );
    for (const kept of [cycleParts.past, cycleParts.denials, fresh]) {
      for (const key of [...kept.keys()]) if (!there.has(key)) kept.delete(key);
    }
    const names = new Set([...there.values()].map(identityOf));
    for (const name of [...seen]) if (!names.has(name)) seen.delete(name);
  }

  async function housekeeping(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(HOUSEKEEPING_MS, signal);
      if (!signal.aborted) await keepHouse();
    }
  }

  const ends = [
    policies.subscribe(hearPolicy),
    ...[deployments, statefulSets, daemonSets].map((copy) => copy.subscribe(hearWorkload(copy))),
  ];
  for (const { metadata: { namespace, name } } of policies.all()) {
    hearPolicy(`${namespace}/${name}`);
  }
  try {
    await Promise.all([
      runReconcileLoop({
        queue,
        reconcile: cycle,
        backoff: createBackoff({ maxMs: HOUSEKEEPING_MS }),
        log,
        workers: POLICIES_AT_ONCE,
      }, signal),
      housekeeping(),
    ]);
  } finally {
    for (const end of ends) end();
    await book.flush();
  }
}

/** One that was deleted and made again is another. */
function identityOf(workload: RightsizedWorkload): string {
  return `${workloadKey(workload)} ${workload.metadata.uid}`;
}
