/**
 * Runs rightsizing over the controller's caches: the sources of usage, the persisted corrections, and the loop.
 *
 * @module
 */
import type { AuditLog } from "../../shared/audit_log.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { createSupervisor } from "../../shared/control/supervisor.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type { Caches } from "../caches.ts";
import type { AllocationStore } from "../../shared/api/ports.ts";
import type { ResizeObserver } from "../resize/send_changes.ts";
import type { RightsizingAPI, RightsizingInformers } from "./api.ts";
import { ClusterSnapshots, type ClusterSnapshotsParts } from "./cluster_snapshots.ts";
import { isDryRun, policyInput, type RightsizingSettings } from "./config.ts";
import { CorrectionMemory, createCorrectionMap } from "./corrections.ts";
import { runRightsizingLoop } from "./loop.ts";
import type { RightsizingObserver } from "./metrics.ts";
import { createOriginalLimitWriter } from "./apply_decision.ts";
import { createPermissionMemory } from "./refused_permissions.ts";
import { createSampledPods } from "./sources/metrics_server/sampled_pods.ts";

/** Dependencies of rightsizing. */
export interface RightsizingParts extends Pick<ClusterSnapshotsParts, "served"> {
  readonly api: RightsizingAPI;
  /** The caller runs these and `informers`. */
  readonly caches: Caches;
  readonly informers: RightsizingInformers;
  readonly allocationStore: Pick<AllocationStore, "writeStatus">;
  readonly settings: () => RightsizingSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly audit?: AuditLog | undefined;
  readonly observer?: RightsizingObserver;
  readonly resizeObserver?: ResizeObserver;
}

/** The longest wait between two starts, ms. */
const LONGEST_WAIT_MS = 300_000;

/** Runs until `signal` is aborted, and starts again after a failure: the market must not end with rightsizing. */
export async function keepRightsizing(parts: RightsizingParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  const backoff = createBackoff({ minMs: 10_000, maxMs: LONGEST_WAIT_MS });
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
  const { api, caches, informers, settings, observer, clock, random, log } = parts;
  const owners = createSampledPods({
    caches,
    ...informers,
    input: () => policyInput(caches.namespaces, settings()),
  });
  const sources = api.connectUsage(owners, observer?.collected);
  const corrections = createCorrectionMap({ store: api.correctionStore, clock, log });
  const permissions = createPermissionMemory({ clock });
  const supervisor = createSupervisor({ clock, log });
  const end = (): void => supervisor.stop();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const term = supervisor.signal;
  const loading = corrections.load(term, { emptyIfForbidden: true });
  const loop = runRightsizingLoop({
    ...{ sources, settings, clock, random, log, observer },
    caches: { ...caches, ...informers },
    cluster: new ClusterSnapshots({
      caches: { ...caches, ...informers },
      corrections: new CorrectionMemory(corrections),
      dryRun: () => isDryRun(settings()),
      served: parts.served,
      missingPermissions: permissions.missing,
    }),
    appliers: {
      resizer: api.resizer,
      audit: parts.audit,
      observer: parts.resizeObserver,
      workloads: api.workloads,
      templatePatched: observer?.templatePatched,
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
    // Before this is loaded, known kills would count as new ones.
    startupState: {
      "ConfigMaps of kills and throttling": {
        whenSynced: (over) => loading.then(() => !over.aborted),
      },
    },
  }, term);
  supervisor.supervise("sampler of usage", sources.run(term));
  supervisor.supervise(
    "memory of kills and throttling",
    loading.then(() => corrections.saveRegularly(term)),
  );
  supervisor.supervise("rightsizing", loop);
  try {
    await supervisor.done();
  } finally {
    signal.removeEventListener("abort", end);
    sources.close();
    // After the last reconcile.
    await corrections.saveAtEnd();
  }
}
