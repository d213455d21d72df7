/**
 * The controller's program on the simulated cluster: start check, election, settings, loops; and rightsizing as
 * it runs it.
 *
 * @module
 */
import { Registry } from "prom-client";
import { type Caches, createCaches, namedCaches } from "../../controller/caches.ts";
import { createLiveSettings, type LiveSettings } from "../../controller/live_settings.ts";
import { createParts } from "../../controller/parts.ts";
import type { PlacementAPI } from "../../controller/placement/ports.ts";
import { runRightsizing } from "../../controller/rightsizing/run.ts";
import {
  type ControllerAPI,
  type ControllerParts,
  runController,
} from "../../controller/run_controller.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import type { AskCluster } from "../../controller/start_check.ts";
import type { ConfigMap } from "../../shared/api/config_map.ts";
import type { OwnerTemplates } from "../../shared/api/ports.ts";
import type { AuditLog } from "../../shared/audit_log.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { Clock } from "../../shared/clock.ts";
import { defined } from "../../shared/defined.ts";
import { effectiveSettings } from "../../shared/config/load.ts";
import type { ListWatch } from "../../shared/control/informer.ts";
import { silentLog } from "../../shared/log.ts";
import { type Random, seededRandom } from "../../shared/random.ts";
import {
  cacheSources,
  type SimulatedAPI,
  type SimulatedClient,
} from "../../lab/simulation/api/simulated_api.ts";
import { createMetricAnswers } from "../fixtures/metrics/metric_answers.ts";
import { controllerPorts } from "../fixtures/controller_ports.ts";
import { keptCheckpoints, notedVPAs } from "../fixtures/rightsizing/recorded_ports.ts";
import {
  createRightsizingInformers,
  type RightsizingAPI,
} from "../../controller/rightsizing/api.ts";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import type { VirtualClock } from "../../lab/simulation/virtual_clock.ts";

/** Where the program runs, and what differs from a program with all that is needed. */
export interface ProgramPlace {
  readonly api: SimulatedClient & Pick<SimulatedAPI, "events">;
  readonly clock: Clock;
  readonly identity: string;
  /** @default one of its own for each length of the identity */
  readonly random?: Random;
  /** @default none has limits */
  readonly templates?: OwnerTemplates;
  /** The server's answer at the start check. @default all that is needed */
  readonly ask?: AskCluster;
  /** The ConfigMap of the settings. @default none is followed */
  readonly followed?: ListWatch<ConfigMap>;
  /** Texts by flag. @default none */
  readonly flags?: ReadonlyMap<string, string>;
  /** Rightsizing's ports. @default none */
  readonly rightsizing?: RightsizingAPI;
  /** Placement's ports. @default none */
  readonly placement?: PlacementAPI;
  readonly webhook?: ControllerParts["webhook"];
  readonly audit?: AuditLog;
}

/** A program that runs. */
export interface ControllerProgram {
  /** Its copies, which show its knowledge. */
  readonly caches: Caches;
  readonly settings: LiveSettings;
  readonly registry: Registry;
  /** SIGTERM. */
  terminate(): void;
  /** From now on no request of it reaches the server: the machine is cut off. */
  cutOff(): void;
  readonly leads: () => Promise<boolean>;
  /** Why it is not ready. */
  readonly waitsFor: () => string | undefined;
  /** The exit code, once it has ended. */
  readonly exitCode: () => number | undefined;
  readonly ended: Promise<0 | 1>;
}

const LEASE = { namespace: "mbcas-system", name: "mbcas-controller" };

/** A server with all that is needed. */
export const ALL_THERE: AskCluster = () =>
  Promise.resolve({
    serverVersion: "v1.36.3",
    servesPodResize: true,
    lowersMemoryLimits: true,
    servesAllocations: true,
    unknownFields: [],
  });

/** Starts a controller of the shipped parts. */
export function startProgram(
  { api, clock, identity, ask = ALL_THERE, followed, flags = new Map(), ...place }: ProgramPlace,
): ControllerProgram {
  const { random = seededRandom(identity.length), rightsizing, placement, webhook, audit } = place;
  const log = silentLog;
  const stop = new AbortController();
  const effective = effectiveSettings(CONTROLLER_SETTINGS, { flags });
  if ("faults" in effective) throw new Error(`Cannot start: ${effective.faults.join("; ")}`);
  const settings = createLiveSettings({ settings: effective, sources: { flags } }, log);
  const values = settings.values();
  const registry = new Registry();
  const link = { up: true };
  const leadership = controllerPorts(api).leaseStore(LEASE);
  const never = new Promise<never>(() => {});
  const ports: ControllerAPI = {
    ask,
    sources: cacheSources(api),
    leadership: {
      read: () => link.up ? leadership.read() : never,
      create: (lease) => link.up ? leadership.create(lease) : never,
      update: (lease) => link.up ? leadership.update(lease) : never,
    },
    store: api.allocationStore,
    resizer: api.podResizer(),
    templates: place.templates ?? { limitsOf: () => Promise.resolve(undefined) },
    events: { emit: api.events.emit, run: () => Promise.resolve() },
    ...defined({ settings: followed, rightsizing }),
    ...(values.placement ? defined({ placement }) : {}),
  };
  const shared = { api: ports, settings, clock, random, log, ...defined({ audit }) };
  const parts = createParts({ ...shared, registry });
  let waitsFor: string | undefined = "not begun";
  let exitCode: number | undefined;
  const run = runController({
    ...{ ...shared, ...parts, identity },
    ...(values.webhook ? defined({ webhook }) : {}),
    instantQueries: createMetricAnswers(clock),
    waitsFor: (reason) => waitsFor = reason,
  }, stop.signal);
  return {
    ...{ caches: parts.caches, settings, registry },
    terminate: () => stop.abort(),
    cutOff: () => link.up = false,
    async leads() {
      return (await registry.getSingleMetric("mbcas_leader")?.get())?.values[0]?.value === 1;
    },
    waitsFor: () => waitsFor,
    exitCode: () => exitCode,
    ended: run.then((code) => exitCode = code),
  };
}

/** Placement's ports on the simulated API; what it stores outlives the program. */
export function simulatedPlacement(client: SimulatedClient, store: CheckpointStore): PlacementAPI {
  const ports = controllerPorts(client);
  return {
    sources: {
      replicaSets: client.listWatch("ReplicaSet"),
      budgets: client.listWatch("PodDisruptionBudget"),
      volumes: client.listWatch("PersistentVolume"),
    },
    evictor: ports.podEvictor,
    costs: ports.deletionCostWriter,
    store,
    statuses: store,
    events: { emit: () => {} },
  };
}

/** Rightsizing's ports outside of the API. */
export interface RightsizingOutside {
  /** For policies of every provider. */
  readonly source: UsageSource;
  readonly correctionStore?: CheckpointStore;
}

/** Rightsizing's ports on the simulated API. */
export function simulatedRightsizing(
  api: SimulatedClient & Pick<SimulatedAPI, "store" | "rightsizingEvents">,
  { source, correctionStore = keptCheckpoints() }: RightsizingOutside,
): RightsizingAPI {
  const writers = controllerPorts(api);
  return {
    sources: {
      policies: api.listWatch("OptimizationPolicy"),
      reports: api.listWatch("RecommendationReport"),
      replicaSets: api.listWatch("ReplicaSet"),
    },
    statuses: writers.policyStatusWriter,
    reportStore: writers.reportStore,
    vpaPublisher: notedVPAs(api.store.tables.VerticalPodAutoscaler),
    workloads: writers.workloadWriter,
    correctionStore,
    events: api.rightsizingEvents,
    resizer: api.podResizer("optipod"),
    connectUsage: () => ({
      sourceFor: () => source,
      run: () => Promise.resolve(),
      close: () => {},
    }),
  };
}

/** It runs until it is disposed of. */
export function startRightsizing(
  { api, clock }: { readonly api: SimulatedAPI; readonly clock: VirtualClock },
  outside: RightsizingOutside,
): AsyncDisposable {
  const end = new AbortController();
  const [random, log] = [seededRandom(21), silentLog];
  const caches = createCaches(cacheSources(api), { clock, random, log });
  const ports = simulatedRightsizing(api, outside);
  const copies = createRightsizingInformers(ports.sources, { clock, random, log });
  const settings = CONTROLLER_SETTINGS.parse({});
  const ended = [
    ...namedCaches(caches).map(([, copy]) => copy.run(end.signal)),
    ...Object.values(copies).map((copy) => copy.run(end.signal)),
    runRightsizing({
      api: ports,
      settings: () => settings,
      caches,
      informers: copies,
      allocationStore: api.allocationStore,
      served: () => ({ resizeServed: true, lowersMemoryLimits: true }),
      clock,
      random,
      log,
    }, end.signal),
  ];
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await clock.runUntil(clock.monotonic() + 20_000);
      await Promise.all(ended);
    },
  };
}
