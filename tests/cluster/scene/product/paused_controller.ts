/**
 * A controller that stands still: the suites of allocations write what a running one would at once
 * write anew.
 *
 * @module
 */
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import { connectKubeconfig } from "../../../../adapters/kube/client/connect.ts";
import { listOf, numberOf, objectOf } from "../../../../adapters/kube/client/json_fields.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import { until } from "../until.ts";

const NAMESPACE = "mbcas-system";
const SCALE = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/mbcas-controller/scale`;

/**
 * For the tests of this file the Deployment has no pods; afterwards it has as many as before.
 * Without a Deployment there is nothing to stop.
 */
export function pauseControllerMeanwhile(): void {
  let replicas = 0;
  Deno.test.beforeAll(() =>
    withConnection(async (connection) => {
      replicas = await currentReplicas(connection);
      if (replicas === 0) return;
      await scaleTo(connection, 0);
      await until("end of the controller's pods", async () => {
        const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
        const query = { labelSelector: "app.kubernetes.io/name=mbcas-controller" };
        const { items } = objectOf(await connection.request({ path, query }));
        return listOf(items).length === 0 ? true : undefined;
      }, { timeoutMs: 60_000 });
    })
  );
  Deno.test.afterAll(async () => {
    if (replicas > 0) await withConnection((connection) => scaleTo(connection, replicas));
  });
}

async function withConnection(act: (connection: KubeConnection) => Promise<void>): Promise<void> {
  const connection = await connectKubeconfig();
  try {
    await act(connection);
  } finally {
    connection.close();
  }
}

async function currentReplicas(connection: KubeConnection): Promise<number> {
  try {
    const scale = objectOf(await connection.request({ path: SCALE }));
    return numberOf(objectOf(scale.spec).replicas) ?? 0;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 0;
    throw error;
  }
}

async function scaleTo(connection: KubeConnection, replicas: number): Promise<void> {
  await connection.request({
    method: "PATCH",
    path: SCALE,
    contentType: "application/merge-patch+json",
    body: { spec: { replicas } },
  });
}
