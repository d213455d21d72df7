/**
 * Rightsizing as the controller runs it, on a simulated API.
 *
 * @module
 */
import { createCaches, namedCaches } from "../../controller/allocation/caches.ts";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import { createRightsizingCopies } from "../../controller/rightsizing/rightsizing_copies.ts";
import { runRightsizing } from "../../controller/rightsizing/run_rightsizing.ts";
import type { CheckpointStore } from "../../controller/rightsizing/sampler/ports.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import type { SimulatedAPI } from "../../simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../simulation/virtual_clock.ts";
import { keptCheckpoints } from "../fixtures/kept_checkpoints.ts";
import { notedVPAs } from "../fixtures/noted_vpas.ts";

/** It runs until it is disposed of. */
export function startRightsizing(
  { api, clock }: { readonly api: SimulatedAPI; readonly clock: VirtualClock },
  { source, correctionStore = keptCheckpoints() }: {
    /** For policies of every provider. */
    readonly source: UsageSource;
    readonly correctionStore?: CheckpointStore;
  },
): AsyncDisposable {
  const end = new AbortController();
  const [random, log] = [seededRandom(21), silentLog];
  const caches = createCaches(cacheSources(api), { clock, random, log });
  const sources = {
    policies: api.listWatch("OptimizationPolicy"),
    reports: api.listWatch("RecommendationReport"),
    replicaSets: api.listWatch("ReplicaSet"),
  };
  const copies = createRightsizingCopies(sources, { clock, random, log });
  const ended = [
    ...namedCaches(caches).map(([, copy]) => copy.run(end.signal)),
    ...Object.values(copies).map((copy) => copy.run(end.signal)),
    runRightsizing({
      api: {
        sources,
        statuses: api.policyStatusWriter,
        reportStore: api.reportStore,
        vpaPublisher: notedVPAs(api.store.tables.VerticalPodAutoscaler),
        workloads: api.workloadWriter,
        rights: { missing: () => Promise.resolve(new Map()) },
        correctionStore,
        events: api.rightsizingEvents,
        resizer: api.podResizer("optipod"),
        resizeSupport: () => Promise.resolve({ resizeServed: true, lowersMemoryLimits: true }),
        sampler: () => ({ ...source, run: () => Promise.resolve() }),
        usageSources: () => ({ of: () => source, close: () => {} }),
      },
      caches,
      copies,
      allocationStore: api.allocationStore,
      marketResizer: api.podResizer(),
      config: {
        dryRun: false,
        policyNamespaces: [],
        annotateWorkloads: false,
        workers: 10,
        sampler: { intervalMs: 30_000, size: 16 },
      },
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
