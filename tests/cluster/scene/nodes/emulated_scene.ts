/**
 * What stands in an emulated server beside pods: the product's definition and policies, and a
 * namespace's bounds, which no controller keeps there.
 *
 * @module
 */
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import { createDesiredWriter } from "../../../../adapters/kube/writers/allocation_writers.ts";
import { readNode } from "../../../../adapters/kube/kinds/nodes.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import { sampleDesired } from "../../../contract/support/sample_objects.ts";
import { createKubectl } from "../../kubectl.ts";
import { applyRights } from "../../rendered_manifests.ts";
import { requestToken, tokenConnector } from "../product/account_token.ts";
import type { EmulatedServer } from "./emulated_server.ts";
import { PUPPET_NAMESPACE, PUPPET_NODE } from "./puppet_node.ts";
import { until } from "../until.ts";

/** Installs the definition and the policies, and sees that they hold an agent to its node. */
export async function installPolicies({ connection, kubeconfig }: EmulatedServer): Promise<void> {
  const kubectl = createKubectl({ kubeconfig });
  await applyRights(kubectl);
  await kubectl.must(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
  for (const [name, nodeName] of [["own", PUPPET_NODE], ["foreign", "another"]] as const) {
    await kubectl.must(["create", "-f", "-"], {
      apiVersion: "allocation.mbcas.io/v1alpha1",
      kind: "PodAllocation",
      metadata: { name, namespace: PUPPET_NAMESPACE },
      spec: { podName: name, podUID: name, nodeName, namespace: PUPPET_NAMESPACE },
    });
  }
  const { metadata: { uid } } = await readNode(connection, PUPPET_NODE);
  const token = await requestToken(connection, {
    namespace: "mbcas-system",
    account: "mbcas-agent",
    node: { name: PUPPET_NODE, uid },
  });
  const agent = await (await tokenConnector(kubectl))(token);
  try {
    const writer = createDesiredWriter(agent);
    const write = (name: string): Promise<string> =>
      writer.writeDesired({ namespace: PUPPET_NAMESPACE, name }, sampleDesired("1"));
    // A policy takes effect some moments after it was made, and the server says nothing when.
    await until(
      "policies in force",
      () =>
        write("foreign").then(() => undefined, (error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          if (/ValidatingAdmissionPolicy .* denied/.test(error.message)) return true;
          throw error;
        }),
    );
    await write("own");
  } finally {
    agent.close();
  }
}

/** A LimitRange of 500 m, and a quota that leaves 20 m, as its controller would report it. */
export async function boundNamespace(
  connection: KubeConnection,
): Promise<{ readonly path: string }> {
  const path = `/api/v1/namespaces/${PUPPET_NAMESPACE}`;
  const post = (kind: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path: `${path}/${kind}`, body });
  const limits = [{ type: "Container", max: { cpu: "500m" } }];
  await post("limitranges", { metadata: { name: "cap" }, spec: { limits } });
  const hard = { "limits.cpu": "1" };
  await post("resourcequotas", { metadata: { name: "sum" }, spec: { hard } });
  await connection.request({
    method: "PATCH",
    path: `${path}/resourcequotas/sum/status`,
    contentType: "application/merge-patch+json",
    body: { status: { hard, used: { "limits.cpu": "780m" } } },
  });
  return { path };
}
