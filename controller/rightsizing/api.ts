/**
 * The ports of rightsizing on an API server, and its informers.
 *
 * @module
 */
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import {
  optimizationPolicyListWatch,
  recommendationReportListWatch,
} from "../../adapters/kube/kinds/optimization_policies.ts";
import { createPodMetrics } from "../../adapters/kube/kinds/pod_metrics.ts";
import { replicaSetListWatch } from "../../adapters/kube/kinds/workloads.ts";
import { createCheckpointStore } from "../../adapters/kube/writers/checkpoint_store.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
  createVPAPublisher,
} from "../../adapters/kube/writers/recommendation_writers.ts";
import { createWorkloadWriter } from "../../adapters/kube/writers/workload_writer.ts";
import { RIGHTSIZING_MANAGER } from "../../shared/resize/original_limits.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { ReplicaSet } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import {
  type CacheOptions,
  createInformers,
  type InformerKinds,
  namespaceIndex,
  type SourcesOf,
} from "../caches.ts";
import type { PodResizer } from "../../shared/resize/patch.ts";
import type { ControllerSettings } from "../settings.ts";
import type { RightsizingEvents } from "./ports.ts";
import type {
  PolicyStatusWriter,
  ReportStore,
  VPAPublisher,
  WorkloadWriter,
} from "../../shared/rightsizing/ports.ts";
import type { PodOwners } from "./sources/metrics_server/sampled_pods.ts";
import { UsageSampler } from "./sources/metrics_server/usage_sampler.ts";
import {
  type CollectionObserver,
  connectUsageSources,
  type UsageSources,
} from "./sources/usage_sources.ts";

/** The caches of rightsizing alone. */
export interface RightsizingInformers {
  readonly policies: Informer<StoredPolicy>;
  /** By their namespaces. */
  readonly reports: Informer<RecommendationReport>;
  /** Maps pods to the Deployments that control them. */
  readonly replicaSets: Informer<ReplicaSet>;
}

const INFORMERS: InformerKinds<RightsizingInformers> = {
  policies: { name: "OptimizationPolicy" },
  reports: { name: "RecommendationReport", indexBy: namespaceIndex },
  replicaSets: { name: "ReplicaSet" },
};

/** Informers that are empty until each is run. */
export function createRightsizingInformers(
  sources: SourcesOf<RightsizingInformers>,
  options: CacheOptions,
): RightsizingInformers {
  return createInformers(INFORMERS, sources, options);
}

/** Sources of usage with their connections; metrics-server is sampled while this runs. */
export interface RunningSources extends UsageSources {
  run(signal: AbortSignal): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/** The ports of rightsizing, beside the caches that it shares with the market. */
export interface RightsizingAPI {
  readonly sources: SourcesOf<RightsizingInformers>;
  readonly statuses: PolicyStatusWriter;
  readonly reportStore: ReportStore;
  readonly vpaPublisher: VPAPublisher;
  readonly workloads: WorkloadWriter;
  readonly events: RightsizingEvents;
  /** Stores observed OOM kills and throttling. */
  readonly correctionStore: CheckpointStore;
  /** With rightsizing's field manager. */
  readonly resizer: PodResizer;
  /** The sources that policies name; `collected` is called with how long they take. */
  connectUsage(owners: PodOwners, collected: CollectionObserver | undefined): RunningSources;
}

/** Labels of the ConfigMaps with OOM kills and throttling, and with sampled usage. */
const CORRECTIONS_LABEL = "optipod.io/corrections";
const USAGE_LABEL = "optipod.io/usage-history";

/** Options of the adapters. */
export interface RightsizingAPIOptions extends CacheOptions {
  /** Namespace of the installation. */
  readonly namespace: string;
  readonly settings: () => ControllerSettings;
  readonly events: RightsizingEvents;
}

/** The ports with the rights of this connection. */
export function connectRightsizingAPI(
  connection: KubeConnection,
  { namespace, settings, events, clock, random, log }: RightsizingAPIOptions,
): RightsizingAPI {
  const every = { log, random };
  const { rightsizingProvider: provider, samplerSize: slots } = settings();
  const policies = { ...every, ...(provider !== null && { provider }) };
  const checkpoints = (label: string): CheckpointStore =>
    createCheckpointStore(connection, { namespace, label, manager: RIGHTSIZING_MANAGER });
  return {
    sources: {
      policies: optimizationPolicyListWatch(connection, policies),
      reports: recommendationReportListWatch(connection, every),
      replicaSets: replicaSetListWatch(connection, every),
    },
    statuses: createPolicyStatusWriter(connection),
    reportStore: createReportStore(connection),
    vpaPublisher: createVPAPublisher(connection),
    workloads: createWorkloadWriter(connection, { log }),
    correctionStore: checkpoints(CORRECTIONS_LABEL),
    events,
    resizer: createPodResizer(connection, { fieldManager: RIGHTSIZING_MANAGER }),
    connectUsage(owners, collected) {
      const sampler = new UsageSampler({
        ...{ owners, clock, log, slots },
        metrics: createPodMetrics(connection),
        store: checkpoints(USAGE_LABEL),
        intervalMs: () => settings().samplerInterval,
      });
      const sources = connectUsageSources({ settings, sampler, clock, log, collected });
      return { ...sources, run: (signal) => sampler.run(signal) };
    },
  };
}
