/**
 * The commands' cluster on a real API server.
 *
 * @module
 */
import {
  type KubeConnection,
  patchRequest,
  pathPart,
  unlessNotFound,
} from "../../../adapters/kube/client/connection.ts";
import { createPodResizer } from "../../../adapters/kube/writers/pod_writers.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { AgentViews, Cluster, MarketSwitches } from "../ports.ts";
import { createDiagnosisReader } from "./read_snapshot.ts";
import { createClusterReader, podPath } from "./cluster_reader.ts";
import { createDashboardAccess } from "./dashboard_access.ts";
import { createPlacementReader, createRecommendationReader } from "./readers.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import type { UserConnection } from "../../../adapters/kube/client/user_connection.ts";
import { nodeViewSchema } from "../../../shared/view/node_view.ts";
import { AGENT_APP, AGENT_PORT, APP_LABEL, SETTINGS } from "../../../shared/installation.ts";
import { settingsPath, SYSTEM_NAMESPACE } from "./system_namespace.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";

/** Creates all ports over one connection. Their requests end with the signal. */
export function createKubeCluster(
  user: UserConnection,
  parts: { readonly clock: Clock; readonly signal: AbortSignal },
): Cluster {
  const request: UserConnection["request"] = (one) =>
    user.request({ signal: parts.signal, ...one });
  const connection = { ...user, request };
  const reader = createClusterReader(connection, parts);
  const recommendations = createRecommendationReader(connection, parts);
  const views = createAgentViews(connection, parts);
  return {
    defaultNamespace: connection.namespace,
    reader,
    placement: createPlacementReader(connection, parts.signal),
    recommendations,
    views,
    diagnosis: createDiagnosisReader(connection, { ...parts, reader, recommendations, views }),
    switches: createMarketSwitches(user),
    dashboard: createDashboardAccess(connection, parts),
    limitWriter(fieldManager) {
      const resizer = createPodResizer(user, { fieldManager });
      return {
        async resize({ namespace, name }, patch) {
          await resizer.resize(namespace, name, patch);
        },
      };
    },
  };
}

/** An agent answers within milliseconds; a node that is gone must not delay the others. */
const TIMEOUT_MS = 5000;

/** Creates the reader of agents' views. */
export function createAgentViews(
  connection: UserConnection,
  { signal }: { readonly signal: AbortSignal },
): AgentViews {
  const labelSelector = `${APP_LABEL}=${AGENT_APP}`;
  return {
    async agents() {
      const source = podListWatch(connection, { namespace: SYSTEM_NAMESPACE, labelSelector });
      const { items } = await source.list(signal);
      return items.filter(({ phase, metadata }) => phase === "Running" && !metadata.terminating)
        .map(({ nodeName, metadata }) => ({ node: nodeName, pod: metadata.name }));
    },
    async view({ pod }) {
      const answer = await connection.podGet({
        namespace: SYSTEM_NAMESPACE,
        pod,
        port: AGENT_PORT,
        path: "/view",
        timeoutMs: TIMEOUT_MS,
        signal,
      });
      const { data, error } = nodeViewSchema.safeParse(answer);
      if (data !== undefined) return data;
      throw new TypeError(
        `Cannot read /view: the agent speaks another version: ${error.issues[0]?.message}`,
      );
    },
  };
}

/** Creates the switches. */
export function createMarketSwitches(connection: KubeConnection): MarketSwitches {
  async function annotate(path: string, annotations: Record<string, string>): Promise<void> {
    const body = { metadata: { annotations } };
    await connection.request(patchRequest("merge", { path, body }));
  }

  return {
    optOutPod: (name) => annotate(podPath(name), { [MANAGED]: "false" }),
    optOutNamespace: (name) =>
      annotate(`/api/v1/namespaces/${pathPart(name)}`, { [MANAGED]: "false" }),
    async writeSettings(text) {
      const path = settingsPath();
      const data = { [SETTINGS.key]: text };
      const patch = patchRequest("merge", { path, body: { data } });
      if (await unlessNotFound(connection.request(patch).then(() => true))) return;
      await connection.request({
        method: "POST",
        path: path.slice(0, path.lastIndexOf("/")),
        body: {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: SETTINGS.name, namespace: SYSTEM_NAMESPACE },
          data,
        },
      });
    },
  };
}
