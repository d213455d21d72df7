/**
 * The commands' cluster on a real API server.
 *
 * @module
 */
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createPodResizer } from "../../../adapters/kube/writers/pod_writers.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { Cluster } from "../ports.ts";
import { createAgentViews } from "./agent_views.ts";
import { createClusterReader } from "./cluster_reader.ts";
import { createMarketSwitches } from "./market_switches.ts";
import { createPlacementReader } from "./placement_reader.ts";
import { createRecommendationReader } from "./recommendation_reader.ts";

/** What the cluster works with. */
export interface KubeClusterOptions {
  readonly defaultNamespace: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** All ports over one connection. */
export function createKubeCluster(
  connection: OpenKubeConnection,
  { defaultNamespace, ...parts }: KubeClusterOptions,
): Cluster {
  return {
    defaultNamespace,
    reader: createClusterReader(connection, parts),
    placement: createPlacementReader(connection, parts),
    recommendations: createRecommendationReader(connection, parts),
    views: createAgentViews(connection, parts),
    switches: createMarketSwitches(connection),
    limitWriter(fieldManager) {
      const resizer = createPodResizer(connection, { fieldManager });
      return {
        async resize({ namespace, name }, patch) {
          await resizer.resize(namespace, name, patch);
        },
      };
    },
  };
}
