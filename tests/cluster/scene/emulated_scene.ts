/**
 * What stands in an emulated server beside pods: the product's definition and policies, and a
 * namespace's bounds, which no controller keeps there.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/connection.ts";
import { createKubectl, kubectlAsServiceAccount } from "../kubectl.ts";
import { applyRights } from "../rendered_manifests.ts";
import type { EmulatedServer } from "./emulated_server.ts";
import { PUPPET_NAMESPACE, PUPPET_NODE } from "./puppet_node.ts";
import { until } from "./until.ts";

/** Installs the definition and the policies, and sees that they hold an agent to its node. */
export async function installPolicies({ kubeconfig }: EmulatedServer): Promise<void> {
  const admin = createKubectl({ kubeconfig });
  await applyRights(admin);
  await admin.must(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
  const token = { namespace: "mbcas-system", serviceAccount: "mbcas-agent", node: PUPPET_NODE };
  const [agent, file] = await kubectlAsServiceAccount(admin, token);
  try {
    for (const [name, nodeName] of [["own", PUPPET_NODE], ["foreign", "another"]] as const) {
      await admin.must(["create", "-f", "-"], {
        apiVersion: "allocation.mbcas.io/v1alpha1",
        kind: "PodAllocation",
        metadata: { name, namespace: PUPPET_NAMESPACE },
        spec: { podName: name, podUID: name, nodeName, namespace: PUPPET_NAMESPACE },
      });
    }
    const limits = { desiredCPULimit: "1", containers: [{ name: "app", cpuLimit: "1" }] };
    const write = (name: string): ReturnType<typeof agent.run> =>
      agent.run(
        ["patch", "pa", name, "-n", PUPPET_NAMESPACE, "--type=merge", "-p"].concat(
          JSON.stringify({ spec: limits }),
        ),
      );
    await until("policies in force", async () => {
      const { ok, stderr } = await write("foreign");
      return !ok && /ValidatingAdmissionPolicy .* denied/.test(stderr) ? true : undefined;
    });
    const { ok, stderr } = await write("own");
    assert.ok(ok, stderr);
  } finally {
    await Deno.remove(file);
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
