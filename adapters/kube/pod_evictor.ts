/**
 * `POST pods/{name}/eviction` on a real API server.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { type KubeConnection, pathPart } from "./connection.ts";

/** The controller's port of this name. */
export interface KubePodEvictor {
  /**
   * Evicts the pod if it is still this one. `blocked`: by a budget, or by several. Throws an `ApiError`
   * for what is no answer about the pod.
   */
  evict(
    pod: { readonly namespace: string; readonly name: string; readonly uid: string },
  ): Promise<
    | { readonly is: "evicted" | "gone" }
    | { readonly is: "blocked" | "forbidden"; readonly message: string }
  >;
}

/** What the server says of a pod with several budgets, which it never evicts, with status 500. */
const SEVERAL_BUDGETS = "more than one PodDisruptionBudget";
/** The cause of a 429 that a budget gave; one without it asks for patience with the server. */
const BY_BUDGET = "DisruptionBudget";

/** An evictor with the rights of the connection. */
export function createPodEvictor(connection: KubeConnection): KubePodEvictor {
  return {
    async evict({ namespace, name, uid }) {
      try {
        await connection.request({
          method: "POST",
          path: `/api/v1/namespaces/${pathPart(namespace)}/pods/${pathPart(name)}/eviction`,
          body: {
            apiVersion: "policy/v1",
            kind: "Eviction",
            metadata: { namespace, name },
            deleteOptions: { preconditions: { uid } },
          },
        });
        return { is: "evicted" };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { status, causes, message } = error;
        // Another pod of the name answers with a conflict.
        if (status === 404 || status === 409) return { is: "gone" };
        if (status === 403) return { is: "forbidden", message };
        if (status === 429 && causes.includes(BY_BUDGET)) return { is: "blocked", message };
        if (status === 500 && message.includes(SEVERAL_BUDGETS)) return { is: "blocked", message };
        throw error;
      }
    },
  };
}
