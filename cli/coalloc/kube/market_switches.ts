/**
 * Takes pods out of the market on a real API server.
 *
 * @module
 */
import { type KubeConnection, pathPart } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { MANAGED } from "../../../shared/resize/scope.ts";
import type { MarketSwitches } from "../ports.ts";
import { podPath } from "./cluster_reader.ts";
import { SETTINGS, settingsPath, SYSTEM_NAMESPACE } from "./installation.ts";

const MERGE = "application/merge-patch+json";

/** The port's implementation. */
export function createMarketSwitches(connection: KubeConnection): MarketSwitches {
  async function annotate(path: string, annotations: Record<string, string>): Promise<void> {
    const body = { metadata: { annotations } };
    await connection.request({ method: "PATCH", path, contentType: MERGE, body });
  }

  return {
    optOutPod: (name) => annotate(podPath(name), { [MANAGED]: "false" }),
    optOutNamespace: (name) =>
      annotate(`/api/v1/namespaces/${pathPart(name)}`, { [MANAGED]: "false" }),
    async writeSettings(text) {
      const path = settingsPath();
      const data = { [SETTINGS.key]: text };
      try {
        await connection.request({ method: "PATCH", path, contentType: MERGE, body: { data } });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
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
      }
    },
  };
}
