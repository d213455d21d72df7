/**
 * Rightsizing from its caches to its end, on whatever API it is given.
 *
 * @module
 */
import type { Workload, WorkloadKind } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { createSupervisor } from "../../shared/control/supervisor.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import {
  policiesFor,
  type PolicyInput,
  readablePolicies,
  type ReadablePolicy,
} from "../../shared/rightsizing/policy_match.ts";
import type { Caches } from "../caches.ts";
import type { AllocationStore } from "../resize/ports.ts";
import type { ResizeSupport, RightsizingAPI, RightsizingCopies } from "./api.ts";
import { createCachedFacts } from "./cached_facts.ts";
import { cachedRules } from "./cached_rules.ts";
import { policyInput, type RightsizingConfig } from "./config.ts";
import {
  type CorrectionMemory,
  createCorrectionKeeper,
  createCorrectionMemory,
} from "./corrections/corrections.ts";
import { type RightsizingLoopParts, runRightsizingLoop } from "./loop.ts";
import { observedWorkloads, type RightsizingObserver } from "./metrics.ts";
import { createOriginalLimitWriter } from "./apply_decision.ts";
import { createPermissionMemory, type PermissionMemory, watchedNamespaces } from "./permissions.ts";
import { createSampledPods, type PodOwners } from "./sampler/pod_owners.ts";

/** What rightsizing runs with. */
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
}

/** How often the server is asked again what it serves, and the longest wait for one without the kinds, ms. */
const ASK_AGAIN_MS = 300_000;
/** How often answers on rights are checked for their age, ms. */
const RIGHTS_MS = 30_000;

/** Runs until `signal` is aborted. Throws the failure of a loop. */
export async function runRightsizing(parts: RightsizingParts, signal: AbortSignal): Promise<void> {
  const { api, clock, log } = parts;
  const sampler = api.sampler(podOwners(parts));
  const sources = api.usageSources(sampler, parts.observer?.collected);
  const permissions = createPermissionMemory({ rights: api.rights, clock });
  let support = await readSupport(parts, signal);
  if (support === undefined) return;
  const memory = createCorrectionMemory();
  const keeper = createCorrectionKeeper({ memory, store: api.correctionStore, clock, log });

  async function refreshSupport(term: AbortSignal): Promise<void> {
    while (!term.aborted) {
      await clock.sleep(ASK_AGAIN_MS, term);
      support = await readSupport(parts, term) ?? support;
    }
  }

  async function refreshPermissions(term: AbortSignal): Promise<void> {
    while (!term.aborted) {
      await permissions.refresh(watchedNamespaces(workloadsOf(parts), readableInput(parts)));
      await clock.sleep(RIGHTS_MS, term);
    }
  }

  const supervisor = createSupervisor({ clock, log });
  const end = (): void => supervisor.stop();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const term = supervisor.signal;
  const loading = keeper.load(term);
  supervisor.supervise("sampler of usage", sampler.run(term));
  supervisor.supervise("memory of kills and throttling", loading.then(() => keeper.run(term)));
  supervisor.supervise("rights of rightsizing", refreshPermissions(term));
  supervisor.supervise("what the server serves", refreshSupport(term));
  const loop = runRightsizingLoop({
    ...loopParts(parts, { corrections: memory, permissions, support: () => support }),
    sources,
    // A kill that is seen for the first time is taken for a new one.
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
    await keeper.end();
  }
}

function loopParts(
  parts: RightsizingParts,
  { corrections, permissions, support }: {
    readonly corrections: CorrectionMemory;
    readonly permissions: PermissionMemory;
    readonly support: () => ResizeSupport | undefined;
  },
): Omit<RightsizingLoopParts, "sources" | "first"> {
  const { api, caches, copies, clock, random, log, config, observer } = parts;
  return {
    caches: { ...caches, ...copies },
    cluster: createCachedFacts({
      caches: { ...caches, replicaSets: copies.replicaSets },
      corrections,
      rulesOf: (workload, pods) => cachedRules(caches, workload, { pods }),
      dryRun: () => config.dryRun,
      served: () => support() ?? { resizeServed: false, lowersMemoryLimits: false },
      missingPermissions: permissions.missing,
    }),
    appliers: {
      resizer: api.resizer,
      workloads: observedWorkloads(api.workloads, observer),
      setOriginalLimits: createOriginalLimitWriter({
        allocations: caches.allocations,
        store: parts.allocationStore,
        clock,
      }),
    },
    lacksPermission: permissions.forget,
    statuses: api.statuses,
    reports: api.reportStore,
    vpaPublisher: api.vpaPublisher,
    events: api.events,
    ...{ config, clock, random, log },
    ...(observer === undefined ? {} : { observer }),
  };
}

/** Owners of pods, for the sampler. */
function podOwners(parts: RightsizingParts): PodOwners {
  const { caches, copies: { policies, replicaSets }, clock } = parts;
  return createSampledPods({
    pods: caches.pods,
    workload: (kind, key) =>
      Object.entries(cachesByKind(caches)).find(([one]) => one === kind)?.[1].get(key),
    replicaSet: (key) => replicaSets.get(key),
    workloadUIDs: () =>
      Object.values(cachesByKind(caches)).every(({ synced }) => synced)
        ? new Set(workloadsOf(parts).map(({ metadata }) => metadata.uid))
        : undefined,
    policies: () => readablePolicies(policies.all()).map(({ spec }) => spec),
    policyOf: (workload) => policiesFor(workload, readableInput(parts))[0]?.spec,
    clock,
  });
}

function readableInput(
  { caches, copies, config }: RightsizingParts,
): PolicyInput & { readonly policies: readonly ReadablePolicy[] } {
  return {
    ...policyInput(caches.namespaces, config),
    policies: readablePolicies(copies.policies.all()),
  };
}

function workloadsOf({ caches }: RightsizingParts): readonly Workload[] {
  return Object.values(cachesByKind(caches)).flatMap((cache) => [...cache.all()]);
}

function cachesByKind(
  { deployments, statefulSets, daemonSets }: Caches,
): Readonly<Record<WorkloadKind, Informer<Workload>>> {
  return { Deployment: deployments, StatefulSet: statefulSets, DaemonSet: daemonSets };
}

/**
 * Runs until `signal` is aborted, and starts again after a failure: the market must not end with rightsizing.
 */
export async function keepRightsizing(parts: RightsizingParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  const backoff = createBackoff({ minMs: 10_000, maxMs: ASK_AGAIN_MS });
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
