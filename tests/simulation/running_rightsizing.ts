/**
 * Rightsizing as the controller runs it, on a simulated API.
 *
 * @module
 */
import { DEFAULT_SETTINGS } from "../fixtures/rightsizing/default_settings.ts";
import { createCaches, namedCaches } from "../../controller/caches.ts";
import { createRightsizingCopies, type RightsizingAPI } from "../../controller/rightsizing/api.ts";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import { type RightsizingParts, runRightsizing } from "../../controller/rightsizing/run.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import {
  cacheSources,
  type SimulatedAPI,
  type SimulatedClient,
} from "../../lab/simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/recorded_appliers.ts";
import { notedVPAs } from "../fixtures/rightsizing/scene_ports.ts";

/** Rightsizing's ports outside of the API. */
export interface RightsizingOutside {
  /** For policies of every provider. */
  readonly source: UsageSource;
  readonly correctionStore?: CheckpointStore;
}

/** Rightsizing's ports on the simulated API, and its settings. */
export function simulatedRightsizing(
  api: SimulatedClient & Pick<SimulatedAPI, "store" | "rightsizingEvents">,
  { source, correctionStore = keptCheckpoints() }: RightsizingOutside,
): Pick<RightsizingParts, "api" | "settings"> {
  const ports: RightsizingAPI = {
    sources: {
      policies: api.listWatch("OptimizationPolicy"),
      reports: api.listWatch("RecommendationReport"),
      replicaSets: api.listWatch("ReplicaSet"),
    },
    statuses: api.policyStatusWriter,
    reportStore: api.reportStore,
    vpaPublisher: notedVPAs(api.store.tables.VerticalPodAutoscaler),
    workloads: api.workloadWriter,
    correctionStore,
    events: api.rightsizingEvents,
    resizer: api.podResizer("optipod"),
    usage: () => ({ of: () => source, run: () => Promise.resolve(), close: () => {} }),
  };
  return { api: ports, settings: () => DEFAULT_SETTINGS };
}

/** It runs until it is disposed of. */
export function startRightsizing(
  { api, clock }: { readonly api: SimulatedAPI; readonly clock: VirtualClock },
  outside: RightsizingOutside,
): AsyncDisposable {
  const end = new AbortController();
  const [random, log] = [seededRandom(21), silentLog];
  const caches = createCaches(cacheSources(api), { clock, random, log });
  const rightsizing = simulatedRightsizing(api, outside);
  const copies = createRightsizingCopies(rightsizing.api.sources, { clock, random, log });
  const ended = [
    ...namedCaches(caches).map(([, copy]) => copy.run(end.signal)),
    ...Object.values(copies).map((copy) => copy.run(end.signal)),
    runRightsizing({
      ...rightsizing,
      caches,
      copies,
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
