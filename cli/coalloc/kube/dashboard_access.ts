/**
 * Access to the dashboard through a real API server.
 *
 * @module
 */
import { resourcePath } from "../../../adapters/kube/client/connection.ts";
import type { UserConnection } from "../../../adapters/kube/client/user_connection.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { DashboardAccess } from "../ports.ts";
import {
  APP_LABEL,
  CONTROLLER_APP,
  DASHBOARD_ACCOUNT,
  DASHBOARD_PORT,
} from "../../../shared/installation.ts";
import { SYSTEM_NAMESPACE } from "./system_namespace.ts";

/** Lifetime of a token; it is renewed after half of it. */
const LIFETIME_S = 3600;

/** Creates the access. */
export function createDashboardAccess(
  connection: UserConnection,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): DashboardAccess {
  let issued: { readonly token: string; readonly untilMs: number } | undefined;

  async function controller(): Promise<string> {
    const labelSelector = `${APP_LABEL}=${CONTROLLER_APP}`;
    const source = podListWatch(connection, { namespace: SYSTEM_NAMESPACE, labelSelector });
    const { items } = await source.list(signal);
    const pod = items.find(({ ready, metadata }) => ready && !metadata.terminating);
    if (pod !== undefined) return pod.metadata.name;
    throw new ApiError(0, "NoController", `no controller in ${SYSTEM_NAMESPACE} is ready`);
  }

  return {
    tunnel: () =>
      connection.tunnel(async () => ({
        namespace: SYSTEM_NAMESPACE,
        pod: await controller(),
        port: DASHBOARD_PORT,
      })),
    async token() {
      const userToken = await connection.bearerToken();
      if (userToken !== undefined) return userToken;
      if (issued !== undefined && clock.monotonic() < issued.untilMs) return issued.token;
      const response = await connection.request({
        method: "POST",
        path: resourcePath({
          groupVersion: "v1",
          resource: "serviceaccounts",
          namespace: SYSTEM_NAMESPACE,
          name: DASHBOARD_ACCOUNT,
          subresource: "token",
        }),
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { expirationSeconds: LIFETIME_S },
        },
      });
      const { status: { token } } = response as { readonly status: { readonly token: string } };
      issued = { token, untilMs: clock.monotonic() + LIFETIME_S * 1000 / 2 };
      return token;
    },
  };
}
