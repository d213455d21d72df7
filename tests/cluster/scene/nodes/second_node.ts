/**
 * A second node, that no machine stands behind: tokens can be bound to it.
 *
 * @module
 */
import { ApiError } from "../../../../shared/api/api_error.ts";
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import { parseIdentity } from "../../../../adapters/kube/kinds/object_fields.ts";

/** A node object while it exists. */
export interface SecondNode extends AsyncDisposable {
  readonly name: string;
  readonly uid: string;
}

/** Makes it. Without `kubernetes.io/os` no DaemonSet of the product wants a pod there. */
export async function secondNode(admin: KubeConnection): Promise<SecondNode> {
  // After the names that real nodes have: tests take the first one for the real one.
  const name = `z-try-${crypto.randomUUID().slice(0, 8)}`;
  const body = { metadata: { name }, spec: { unschedulable: true } };
  const { uid } = parseIdentity(
    await admin.request({ method: "POST", path: "/api/v1/nodes", body }),
  );
  return {
    name,
    uid,
    [Symbol.asyncDispose]: async () => {
      try {
        await admin.request({ method: "DELETE", path: `/api/v1/nodes/${name}` });
      } catch (error) {
        // A cloud's controller removes nodes without a machine by itself.
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
      }
    },
  };
}
