/**
 * A kubelet that can't say how its node is: an admission policy refuses its status.
 *
 * @module
 */
import { ApiError } from "../../../../shared/api/api_error.ts";
import type { RealNode } from "../real_node.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
/** Name of the policy, which its refusals contain. */
export const SILENCING_POLICY = "try-node-conditions";

/**
 * Refuses what this node's kubelet says of its status, and no other's, until the end. What a run that
 * was interrupted has left behind is removed first.
 */
export async function silencedKubelet(
  node: Pick<RealNode, "connection" | "create">,
  nodeName: string,
): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  undo.use(
    await clusterObject(node, "validatingadmissionpolicies", {
      matchConstraints: {
        resourceRules: [{
          apiGroups: [""],
          apiVersions: ["v1"],
          operations: ["UPDATE"],
          resources: ["nodes/status"],
        }],
      },
      validations: [{
        expression: `object.metadata.name != '${nodeName}' || ` +
          "!('system:nodes' in request.userInfo.groups)",
      }],
    }),
  );
  undo.use(
    await clusterObject(node, "validatingadmissionpolicybindings", {
      policyName: SILENCING_POLICY,
      validationActions: ["Deny"],
    }),
  );
  return undo.move();
}

/** An object of this kind while it is wanted. */
async function clusterObject(
  { connection, create }: Pick<RealNode, "connection" | "create">,
  kind: string,
  spec: unknown,
): Promise<AsyncDisposable> {
  const remove = async (): Promise<void> => {
    try {
      await connection.request({ method: "DELETE", path: `${GROUP}/${kind}/${SILENCING_POLICY}` });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  };
  await remove();
  await create(`${GROUP}/${kind}`, { metadata: { name: SILENCING_POLICY }, spec });
  return { [Symbol.asyncDispose]: remove };
}
