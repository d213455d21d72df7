/**
 * Runs rightsizing over the controller's caches: the usage sampler, the persisted corrections, the check of what
 * the server serves, and the loop.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { createSupervisor } from "../../shared/control/supervisor.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { policiesFor, readablePolicies } from "../../shared/rightsizing/policy_match.ts";
import type { Caches } from "../caches.ts";
import type { AllocationStore } from "../resize/ports.ts";
import type { ResizeObserver } from "../resize/send_changes.ts";
import type { ResizeSupport, RightsizingAPI, RightsizingCopies } from "./api.ts";
import { cachedRules, createClusterFacts } from "./cluster_facts.ts";
import { policyInput, type RightsizingConfig } from "./config.ts";
import { type CorrectionMemory, createPersistedCorrections } from "./corrections.ts";
import { type RightsizingLoopParts, runRightsizingLoop } from "./loop.ts";
import { observedWorkloads, type RightsizingObserver } from "./metrics.ts";
import { createOriginalLimitWriter } from "./apply_decision.ts";
import { createPermissionMemory } from "./permissions.ts";
import { createSampledPods, type PodOwners } from "./sources/pod_owners.ts";

/** Dependencies of rightsizing. */
export interface RightsizingParts {
  readonly api: RightsizingAPI;
  /** The caller runs both. */
  readonly caches: Caches;
  readonly copies: RightsizingCopies;
  readonly allocationStore: Pick<AllocationStore, "writeStatus">;
  readonly config: RightsizingConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer?: RightsizingObserver;
  readonly resizeObserver?: ResizeObserver;
}

/** Between two checks of what the server serves, and between two starts at most, ms. */
const CHECK_MS = 300_000;

/** Runs until `signal` is aborted, and starts again after a failure: the market must not end with rightsizing. */
export async function keepRightsizing(parts: RightsizingParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  const backoff = createBackoff({ minMs: 10_000, maxMs: CHECK_MS });
  while (!signal.aborted) {
    try {
      await runRightsizing(parts, signal);
    } catch (error) {
      const waitMs = backoff.next("rightsizing", error);
      log.error("Rightsizing failed, and begins anew", { error: String(error), waitMs });
      await clock.sleep(waitMs, signal);
    }
  }
}

/** Runs until `signal` is aborted. Throws the failure of a loop. */
export async function runRightsizing(parts: RightsizingParts, signal: AbortSignal): Promise<void> {
  const { api, clock, log } = parts;
  const sampler = api.sampler(podOwners(parts));
  const sources = api.usageSources(sampler, parts.observer?.collected);
  const first = await readSupport(parts, signal);
  if (first === undefined) return;
  const support = { present: first };
  const corrections = createPersistedCorrections({ store: api.correctionStore, clock, log });
  const supervisor = createSupervisor({ clock, log });
  const end = (): void => supervisor.stop();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const term = supervisor.signal;
  const loading = corrections.load(term);
  supervisor.supervise("sampler of usage", sampler.run(term));
  supervisor.supervise("memory of kills and throttling", loading.then(() => corrections.run(term)));
  supervisor.supervise("what the server serves", refreshSupport(parts, support, term));
  const loop = runRightsizingLoop({
    ...loopParts(parts, { corrections: corrections.memory, support }),
    sources,
    // A kill that is seen for the first time counts as a new one.
    first: {
      "ConfigMaps of kills and throttling": {
        whenSynced: (over) => loading.then(() => !over.aborted),
      },
    },
  }, term);
  supervisor.supervise("rightsizing", loop);
  try {
    await supervisor.done();
  } finally {
    signal.removeEventListener("abort", end);
    sources.close();
    // After the last reconcile.
    await corrections.end();
  }
}

function loopParts(
  parts: RightsizingParts,
  { corrections, support }: {
    readonly corrections: CorrectionMemory;
    readonly support: { readonly present: ResizeSupport };
  },
): Omit<RightsizingLoopParts, "sources" | "first"> {
  const { api, caches, copies, clock, random, log, config, observer } = parts;
  const permissions = createPermissionMemory({ clock });
  return {
    caches: { ...caches, ...copies },
    cluster: createClusterFacts({
      caches: { ...caches, replicaSets: copies.replicaSets },
      corrections,
      rulesOf: (workload, pods) => cachedRules(caches, workload, { pods }),
      dryRun: () => config.dryRun,
      served: () => support.present,
      missingPermissions: permissions.missing,
    }),
    hands: {
      resizer: api.resizer,
      log,
      observer: parts.resizeObserver,
      workloads: observedWorkloads(api.workloads, observer),
      setOriginalLimits: createOriginalLimitWriter({
        allocations: caches.allocations,
        store: parts.allocationStore,
        clock,
      }),
    },
    lacksPermission: permissions.refused,
    statuses: api.statuses,
    reports: api.reportStore,
    vpaPublisher: api.vpaPublisher,
    events: api.events,
    ...{ config, clock, random, log },
    ...(observer === undefined ? {} : { observer }),
  };
}

/** Owners of pods, for the sampler. */
function podOwners({ caches, copies, config, clock }: RightsizingParts): PodOwners {
  const byKind = new Map<string, Informer<Workload>>([
    ["Deployment", caches.deployments],
    ["StatefulSet", caches.statefulSets],
    ["DaemonSet", caches.daemonSets],
  ]);
  const all = [...byKind.values()];
  const policies = () => readablePolicies(copies.policies.all());
  return createSampledPods({
    pods: caches.pods,
    workload: (kind, key) => byKind.get(kind)?.get(key),
    replicaSet: (key) => copies.replicaSets.get(key),
    workloadUIDs: () =>
      all.every(({ synced }) => synced)
        ? new Set(all.flatMap((cache) => Array.from(cache.all(), ({ metadata }) => metadata.uid)))
        : undefined,
    policies: () => policies().map(({ spec }) => spec),
    policyOf: (workload) =>
      policiesFor(workload, {
        ...policyInput(caches.namespaces, config),
        policies: policies(),
      })[0]?.spec,
    clock,
  });
}

async function refreshSupport(
  parts: RightsizingParts,
  support: { present: ResizeSupport },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await parts.clock.sleep(CHECK_MS, signal);
    support.present = await readSupport(parts, signal) ?? support.present;
  }
}

/** What the server serves; undefined when `signal` was aborted first. */
async function readSupport(
  { api, clock, log }: RightsizingParts,
  signal: AbortSignal,
): Promise<ResizeSupport | undefined> {
  const backoff = createBackoff({ maxMs: 60_000 });
  while (!signal.aborted) {
    try {
      return await api.resizeSupport();
    } catch (error) {
      const waitMs = backoff.next("support", error);
      log.warn("The server does not say what it serves", { error: String(error), waitMs });
      await clock.sleep(waitMs, signal);
    }
  }
  return undefined;
}
