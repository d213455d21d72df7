/**
 * Reads the agents' views through a port-forward, with the user's rights.
 *
 * @module
 */
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { podHTTPGet } from "../../../adapters/kube/client/port_forward.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { nodeViewSchema } from "../../../shared/view/node_view.ts";
import type { AgentViews } from "../ports.ts";
import { AGENT_APP, AGENT_PORT, APP_LABEL, SYSTEM_NAMESPACE } from "./installation.ts";

/** An agent answers within milliseconds; a node that is gone must not hold up the others. */
const TIMEOUT_MS = 5000;

/** The port's implementation. */
export function createAgentViews(
  connection: OpenKubeConnection,
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
      const answer = await unlessAborted(
        podHTTPGet(connection, {
          namespace: SYSTEM_NAMESPACE,
          pod,
          port: AGENT_PORT,
          path: "/view",
          timeoutMs: TIMEOUT_MS,
        }),
        signal,
      );
      const { data, error } = nodeViewSchema.safeParse(answer);
      if (data !== undefined) return data;
      throw new TypeError(
        `Cannot read /view: the agent speaks another version: ${error.issues[0]?.message}`,
      );
    },
  };
}

/** A port-forward can't be cancelled: the user does not wait for one that is no longer needed. */
async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new ApiError(0, "Aborted", "aborted"));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
