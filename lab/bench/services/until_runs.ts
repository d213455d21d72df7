/**
 * Waiting for a Deployment.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { until } from "../../../tests/cluster/scene/until.ts";

/** Waits until the one replica of the Deployment at `path` is ready. */
export async function untilRuns(path: string, connection: KubeConnection): Promise<void> {
  await until(`ready replica of ${path}`, async () => {
    const { status } = objectOf(await connection.request({ path }));
    return objectOf(status)["readyReplicas"] === 1 ? true : undefined;
  }, { timeoutMs: 60_000 });
}
