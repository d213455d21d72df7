/**
 * The sampler of metrics-server on a real API server.
 *
 * @module
 */
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createPodMetrics } from "../../../adapters/kube/kinds/pod_metrics.ts";
import { createUsageSampler, type UsageSampler, type UsageSamplerParts } from "./usage_sampler.ts";

/** What the sampler needs beside the API. */
export interface UsageSamplerOptions
  extends Pick<UsageSamplerParts, "owners" | "clock" | "log" | "intervalMs" | "slots"> {
  /** Of the installation: its history is kept there. */
  readonly namespace: string;
}

/** Label of the ConfigMaps with the history. */
export const USAGE_LABEL = "optipod.io/usage-history";
/** Field manager of what rightsizing writes. */
const MANAGER = "optipod";

/**
 * A sampler with the rights of the connection: to list `pods.metrics.k8s.io` everywhere, and to list,
 * create, patch and delete ConfigMaps of the installation's namespace.
 */
export function connectUsageSampler(
  connection: KubeConnection,
  { namespace, ...parts }: UsageSamplerOptions,
): UsageSampler {
  const store = { namespace, label: USAGE_LABEL, manager: MANAGER };
  return createUsageSampler({
    ...parts,
    metrics: createPodMetrics(connection),
    store: createCheckpointStore(connection, store),
  });
}
