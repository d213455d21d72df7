/**
 * The controller from its start check to its end, on a real API server or a simulated one.
 *
 * @module
 */
import type { Mutator } from "../shared/admission/run_mutators.ts";
import type { ConfigMap } from "../shared/api/config_map.ts";
import type { AuditLog } from "../shared/audit_log.ts";
import type { Clock } from "../shared/clock.ts";
import { settingsAmong } from "../shared/config/file.ts";
import { createInformer, type Informer, type ListWatch } from "../shared/control/informer.ts";
import {
  type ElectionEnd,
  type LeaseStore,
  runLeaderElection,
} from "../shared/control/leader_election.ts";
import { createSupervisor } from "../shared/control/supervisor.ts";
import { aborted, within } from "../shared/control/time_limit.ts";
import { SETTINGS } from "../shared/installation.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";
import { runAllocationLoop } from "./allocation/allocation_loop.ts";
import { type Caches, type CacheSources, namedCaches } from "./caches.ts";
import type { AllocationStore, EventSink, OwnerTemplates } from "../shared/api/ports.ts";
import type { PodResizer } from "../shared/resize/patch.ts";
import type { Dashboard } from "./dashboard/connect_dashboard.ts";
import { marketConfig } from "./config.ts";
import { watchConfirmations } from "./confirmation_watch.ts";
import type { LiveSettings } from "./live_settings.ts";
import type { ControllerMetrics } from "./metrics.ts";
import type { InstantQueries } from "../shared/instant_queries.ts";
import type { PlacementAPI } from "./placement/ports.ts";
import type { Placement } from "./placement/placement.ts";
import {
  createRightsizingInformers,
  type RightsizingAPI,
  type RightsizingInformers,
} from "./rightsizing/api.ts";
import { isDryRun } from "./rightsizing/config.ts";
import { createCreationValues, createPodCreationMutator } from "./rightsizing/pod_creation.ts";
import { keepRightsizing, type RightsizingParts } from "./rightsizing/run.ts";
import {
  type AskCluster,
  createServedResize,
  reportOldKubelets,
  type ServedResize,
  startCheck,
} from "./start_check.ts";

/** The controller's ports to the API server. */
export interface ControllerAPI {
  readonly ask: AskCluster;
  readonly sources: CacheSources;
  /** The ConfigMap with the settings; absent: changes of the settings are not followed. */
  readonly settings?: ListWatch<ConfigMap>;
  readonly leadership: LeaseStore;
  readonly store: AllocationStore;
  readonly resizer: PodResizer;
  readonly templates: OwnerTemplates;
  /** The sink, and the loop that sends its events. */
  readonly events: EventSink & { run(signal: AbortSignal): Promise<void> };
  readonly rightsizing?: RightsizingAPI;
  readonly placement?: PlacementAPI;
}

/** The parts that the controller runs with. */
export interface ControllerParts {
  readonly api: ControllerAPI;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly audit?: AuditLog;
  readonly settings: LiveSettings;
  readonly metrics: ControllerMetrics;
  readonly instantQueries: InstantQueries;
  readonly rightsizing?: Pick<RightsizingParts, "settings" | "observer">;
  readonly placement?: Placement;
  /** Serves the leader's admission webhook until the signal is aborted. */
  readonly webhook?: (mutators: readonly Mutator[], signal: AbortSignal) => Promise<void>;
  readonly dashboard?: Dashboard;
  /** Differs from process to process. */
  readonly identity: string;
  /** Receives the reason why the start waits; undefined once it may begin. */
  readonly waitsFor: (reason: string | undefined) => void;
}

/**
 * Runs until `signal` is aborted. Resolves with the program's exit code: 0 after a clean end, 1 when the
 * leadership was lost, so that the process is restarted. Throws the failure of a loop.
 */
export async function runController(parts: ControllerParts, signal: AbortSignal): Promise<0 | 1> {
  const { api, caches, clock, log, settings } = parts;
  const verdict = await startCheck({ ...parts, ask: api.ask }, signal);
  if (verdict === "stopped") return 0;

  const { stopGrace } = settings.values();
  const supervisor = createSupervisor({ clock, log, graceMs: stopGrace });
  const resize = createServedResize({ ask: api.ask, clock, log }, verdict);
  supervisor.supervise("what the server serves", resize.run(supervisor.signal));
  for (const [name, informer] of namedCaches(caches)) {
    supervisor.supervise(`cache of ${name}`, informer.run(supervisor.signal));
  }
  const copies = rightsizingCopies(parts);
  for (const [name, informer] of Object.entries({ ...copies, ...parts.placement?.informers })) {
    supervisor.supervise(`cache of ${name}`, informer.run(supervisor.signal));
  }
  if (parts.dashboard !== undefined) {
    const reports = copies?.reports;
    const sources = { caches, ...(reports === undefined ? {} : { reports }) };
    supervisor.supervise("dashboard", parts.dashboard(sources, supervisor.signal));
  }
  supervisor.supervise("events", api.events.run(supervisor.signal));
  const settingsInformer = followSettings(parts);
  if (settingsInformer !== undefined) {
    supervisor.supervise("cache of settings", settingsInformer.run(supervisor.signal));
  }
  const unsubscribe = reportOldKubelets(caches.nodes, log);

  const outcome: { end: ElectionEnd } = { end: "stopped" };
  const election = runLeaderElection({
    ...parts,
    store: api.leadership,
    async lead(term) {
      // Nothing is changed by outdated settings: the market may be off by now.
      if (settingsInformer === undefined || await settingsInformer.whenSynced(term)) {
        await lead({ ...parts, resize }, copies, { term });
      }
    },
  }, AbortSignal.any([signal, supervisor.signal]));
  // The caches run until the leader's work, which reads them, has ended.
  supervisor.supervise(
    "election",
    election.then((how) => void (outcome.end = how)).finally(supervisor.stop),
  );
  try {
    await supervisor.done();
  } finally {
    unsubscribe();
  }
  return outcome.end === "lost" ? 1 : 0;
}

/** The leader's work. At its end, requests in flight get half of `stopGrace`. */
async function lead(
  parts: ControllerParts & { readonly resize: ServedResize },
  copies: RightsizingInformers | undefined,
  { term }: { readonly term: AbortSignal },
): Promise<void> {
  const { api, caches: { pods, allocations }, clock, log, settings, metrics, resize } = parts;
  const graceMs = settings.values().stopGrace / 2;
  const onConfirmed = metrics.decisionConfirmed;
  const unsubscribe = watchConfirmations({ pods, allocations, clock, onConfirmed });
  metrics.leads(true);
  const market = runAllocationLoop({
    ...{ ...parts, ...api },
    config: marketConfig(settings.values, resize),
    onConfigChange(changed) {
      const stops = [settings.subscribe(changed), resize.subscribe(changed)];
      return () => stops.forEach((stop) => stop());
    },
    observer: metrics,
  }, term);
  const work = Promise.all([
    market,
    rightsize(parts, copies, { term }),
    parts.placement?.lead(term),
    parts.webhook?.(mutatorsOf(parts, copies), term),
  ]).then(() => {});
  const late = () => log.warn("Requests are still under way at the end", { graceMs });
  try {
    await Promise.race([work, aborted(term)]);
    await within(() => work, { clock, ms: graceMs, late });
  } finally {
    metrics.leads(false);
    unsubscribe();
  }
}

/** The caches of rightsizing, with placement's ReplicaSets where that runs; undefined where it is off. */
function rightsizingCopies(
  { api, rightsizing, placement, clock, random, log }: ControllerParts,
): RightsizingInformers | undefined {
  if (api.rightsizing === undefined || rightsizing === undefined) return undefined;
  const copies = createRightsizingInformers(api.rightsizing.sources, { clock, random, log });
  return placement === undefined
    ? copies
    : { ...copies, replicaSets: placement.informers.replicaSets };
}

/**
 * The mutators of new pods, in order; they also warn about workloads. Placement comes last: it reserves
 * a place for the pod, and no later mutator may exceed the time that the API server waits.
 */
function mutatorsOf(
  { caches, rightsizing, placement }: ControllerParts,
  copies: RightsizingInformers | undefined,
): readonly Mutator[] {
  const placed = placement?.mutators ?? [];
  if (copies === undefined || rightsizing === undefined) return placed;
  const dryRun = (): boolean => isDryRun(rightsizing.settings());
  const values = createCreationValues({ ...copies, caches, dryRun });
  return [createPodCreationMutator(values), ...placed];
}

/** Runs rightsizing, unless it is off. */
async function rightsize(
  parts: ControllerParts & { readonly resize: ServedResize },
  copies: RightsizingInformers | undefined,
  { term }: { readonly term: AbortSignal },
): Promise<void> {
  const { api, metrics, rightsizing, resize } = parts;
  if (api.rightsizing === undefined || rightsizing === undefined || copies === undefined) return;
  await keepRightsizing({
    ...{ ...parts, ...rightsizing, informers: copies },
    api: api.rightsizing,
    allocationStore: api.store,
    resizeObserver: metrics,
    served: () => ({
      resizeServed: resize.served,
      lowersMemoryLimits: resize.lowersMemoryLimits,
    }),
  }, term);
}

/** An informer that passes on each new text of the settings. */
function followSettings(
  { api, clock, random, log, settings }: ControllerParts,
): Informer<ConfigMap> | undefined {
  if (api.settings === undefined) return undefined;
  const source = api.settings;
  const informer = createInformer({ source, clock, random, log, name: "ConfigMap" });
  informer.subscribe((key) => {
    const path = `configmap ${key}`;
    const place = { name: SETTINGS.key, path, place: `${path}: data.` };
    const file = settingsAmong(informer.get(key)?.data ?? {}, place);
    settings.takeFile(file ?? { path, text: undefined });
  });
  return informer;
}
