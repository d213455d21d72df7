/**
 * Rightsizing from its copies to its end, on whatever API it is given.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { createSupervisor } from "../../shared/control/supervisor.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { policiesFor, readablePolicies } from "../../shared/rightsizing/policy_choice.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { Caches } from "../allocation/caches.ts";
import type { AllocationStore } from "../allocation/ports.ts";
import type { PodResizer } from "../resize/pod_resizer.ts";
import { createCachedFacts } from "./cached_facts.ts";
import { cachedRules } from "./cached_surroundings.ts";
import { createCorrectionKeeper } from "./corrections/correction_keeper.ts";
import { createCorrectionMemory } from "./corrections/correction_memory.ts";
import type { RightsizingEvents, WorkloadWriter } from "./loop_ports.ts";
import { observedWorkloads } from "./observed_workloads.ts";
import { createOriginalLimitWriter } from "./original_limit_writer.ts";
import { createPermissionMemory, type MethodRights } from "./permission_memory.ts";
import type { PolicyStatusWriter, ReportStore, VPAPublisher } from "./policy_ports.ts";
import { policySurroundings } from "./policy_surroundings.ts";
import type { UsageSource } from "./ports.ts";
import type { RightsizingConfig } from "./rightsizing_config.ts";
import type { RightsizingCopies, RightsizingSources } from "./rightsizing_copies.ts";
import { runRightsizingLoop } from "./rightsizing_loop.ts";
import type { RightsizingObserver } from "./rightsizing_observer.ts";
import { createSampledPods } from "./sampled_pods.ts";
import type { CheckpointStore, PodOwners } from "./sampler/ports.ts";
import type { UsageSources } from "./sources/usage_sources.ts";
import { wonPlaces } from "./won_places.ts";

/** What the server serves of resizing. */
export type ResizeSupport = Pick<RightsizingFacts, "resizeServed" | "lowersMemoryLimits">;

/** All that rightsizing asks of the outside, beside what the market has copies of. */
export interface RightsizingAPI {
  readonly sources: RightsizingSources;
  readonly statuses: PolicyStatusWriter;
  readonly reportStore: ReportStore;
  readonly vpaPublisher: VPAPublisher;
  readonly workloads: WorkloadWriter;
  readonly rights: MethodRights;
  readonly events: RightsizingEvents;
  /** For kills and throttling that were seen. */
  readonly correctionStore: CheckpointStore;
  /** Under rightsizing's name. */
  readonly resizer: PodResizer;
  /** Throws an `ApiError` when the server does not answer. */
  resizeSupport(): Promise<ResizeSupport>;
  /** A source that samples by itself while it runs. */
  sampler(owners: PodOwners): UsageSource & { run(signal: AbortSignal): Promise<void> };
  /**
   * The sources that policies name, and what lets go of their connections. `collected` hears how long
   * they take.
   */
  usageSources(
    sampler: UsageSource,
    collected: RightsizingObserver["collected"],
  ): UsageSources & { close(): void };
}

/** What rightsizing runs with. */
export interface RightsizingParts {
  readonly api: RightsizingAPI;
  /** Somebody else runs both. */
  readonly caches: Caches;
  readonly copies: RightsizingCopies;
  readonly allocationStore: Pick<AllocationStore, "writeStatus">;
  /** Under the market's name. */
  readonly config: RightsizingConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer?: RightsizingObserver;
}

/** How often the server is asked again what it serves, and the longest wait for one without the kinds, ms. */
const ASK_AGAIN_MS = 300_000;
/** How often it is seen which answers on rights are too old, ms. */
const RIGHTS_MS = 30_000;

/** Runs until `signal` is aborted. Throws the failure of a loop. */
// deno-lint-ignore house/function-length
export async function runRightsizing(parts: RightsizingParts, signal: AbortSignal): Promise<void> {
  const { api, caches, copies, clock, random, log, config } = parts;
  const { policies } = copies;
  const workloadCopies = {
    Deployment: caches.deployments,
    StatefulSet: caches.statefulSets,
    DaemonSet: caches.daemonSets,
  };
  const all = (): Workload[] => Object.values(workloadCopies).flatMap((copy) => [...copy.all()]);

  const around = () => ({
    ...policySurroundings(caches.namespaces, config),
    policies: readablePolicies(policies.all()),
  });

  function policyOf(workload: RightsizedWorkload): PolicySpec | undefined {
    const [first] = policiesFor(workload, around());
    return first?.spec;
  }

  const sampler = api.sampler(createSampledPods({
    pods: caches.pods,
    workload: (kind, key) =>
      Object.entries(workloadCopies).find(([one]) => one === kind)?.[1].get(key),
    replicaSet: (key) => copies.replicaSets.get(key),
    workloadUIDs: () =>
      Object.values(workloadCopies).every(({ synced }) => synced)
        ? new Set(all().map(({ metadata }) => metadata.uid))
        : undefined,
    policies: () => readablePolicies(policies.all()).map(({ spec }) => spec),
    policyOf,
    clock,
  }));
  const sources = api.usageSources(sampler, parts.observer?.collected);
  const permissions = createPermissionMemory({ rights: api.rights, clock });
  let support = await readSupport(parts, signal);
  if (support === undefined) return;
  const corrections = createCorrectionMemory();
  const keeper = createCorrectionKeeper({
    memory: corrections,
    store: api.correctionStore,
    clock,
    log,
  });
  async function keepAsking(term: AbortSignal): Promise<void> {
    while (!term.aborted) {
      await clock.sleep(ASK_AGAIN_MS, term);
      support = await readSupport(parts, term) ?? support;
    }
  }

  async function keepRights(term: AbortSignal): Promise<void> {
    while (!term.aborted) {
      await permissions.refresh(wonPlaces(all(), around()));
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
  supervisor.supervise("rights of rightsizing", keepRights(term));
  supervisor.supervise("what the server serves", keepAsking(term));
  supervisor.supervise(
    "rightsizing",
    runRightsizingLoop({
      caches: { ...caches, ...copies },
      sources,
      // A kill that is seen for the first time is taken for a new one.
      first: {
        "ConfigMaps of kills and throttling": {
          whenSynced: (over) => loading.then(() => !over.aborted),
        },
      },
      cluster: createCachedFacts({
        caches: { ...caches, replicaSets: copies.replicaSets },
        corrections,
        rulesOf: (workload, pods) => cachedRules(caches, workload, { pods }),
        dryRun: () => config.dryRun,
        served: () => support ?? { resizeServed: false, lowersMemoryLimits: false },
        missingPermissions: permissions.missing,
      }),
      hands: {
        resizer: api.resizer,
        workloads: observedWorkloads(api.workloads, parts.observer),
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
      config,
      clock,
      random,
      log,
      ...(parts.observer === undefined ? {} : { observer: parts.observer }),
    }, term),
  );
  try {
    await supervisor.done();
  } finally {
    signal.removeEventListener("abort", end);
    sources.close();
    // After the last look.
    await keeper.end();
  }
}

/**
 * Runs until `signal` is aborted, and begins anew after a failure: the market's seconds must not end with
 * the clock of hours.
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

/** What the server serves; undefined when `signal` was aborted before it told. */
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
