/**
 * Rightsizing's ports on a real API server.
 *
 * @module
 */
import { createMethodRights } from "../../adapters/kube/client/access_rules.ts";
import { readResizeSupport } from "../../adapters/kube/client/api_checks.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import {
  optimizationPolicyListWatch,
  recommendationReportListWatch,
} from "../../adapters/kube/kinds/optimization_policies.ts";
import { replicaSetListWatch } from "../../adapters/kube/kinds/workloads.ts";
import { createCheckpointStore } from "../../adapters/kube/writers/checkpoint_store.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
  createVPAPublisher,
} from "../../adapters/kube/writers/recommendation_writers.ts";
import { createWorkloadWriter } from "../../adapters/kube/writers/workload_writer.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { RIGHTSIZING_MANAGER } from "../../shared/resize/original_limits.ts";
import type { ControllerSettings } from "../settings.ts";
import type { RightsizingEvents } from "./loop_ports.ts";
import type { RightsizingAPI } from "./run_rightsizing.ts";
import { connectUsageSampler } from "./sampler/connect_usage_sampler.ts";
import { connectUsageSources } from "./sources/connect_usage_sources.ts";

/** Label of the ConfigMaps with kills and throttling that were seen. */
const CORRECTIONS_LABEL = "optipod.io/corrections";

/** What the adapters work with. */
export interface RightsizingAPIOptions {
  /** Of the installation. */
  readonly namespace: string;
  readonly settings: () => ControllerSettings;
  readonly events: RightsizingEvents;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The ports with the rights of this connection. */
export function connectRightsizingAPI(
  connection: KubeConnection,
  { namespace, settings, events, clock, random, log }: RightsizingAPIOptions,
): RightsizingAPI {
  const every = { log, random };
  const { rightsizingProvider: provider, samplerSize: slots } = settings();
  return {
    sources: {
      policies: optimizationPolicyListWatch(connection, {
        ...every,
        ...(provider === null ? {} : { provider }),
      }),
      reports: recommendationReportListWatch(connection, every),
      replicaSets: replicaSetListWatch(connection, every),
    },
    statuses: createPolicyStatusWriter(connection),
    reportStore: createReportStore(connection),
    vpaPublisher: createVPAPublisher(connection),
    workloads: createWorkloadWriter(connection, { log }),
    rights: createMethodRights(connection),
    correctionStore: createCheckpointStore(connection, {
      namespace,
      label: CORRECTIONS_LABEL,
      manager: RIGHTSIZING_MANAGER,
    }),
    events,
    resizer: createPodResizer(connection, { fieldManager: RIGHTSIZING_MANAGER }),
    resizeSupport: () => readResizeSupport(connection),
    sampler: (owners) =>
      connectUsageSampler(connection, {
        namespace,
        owners,
        clock,
        log,
        intervalMs: () => settings().samplerInterval,
        slots,
      }),
    usageSources: (sampler, collected) =>
      connectUsageSources({
        settings,
        sampler,
        clock,
        log,
        ...(collected === undefined ? {} : { collected }),
      }),
  };
}
