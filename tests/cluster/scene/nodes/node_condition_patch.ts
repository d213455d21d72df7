/**
 * Conditions of the node that are not so. Meanwhile a policy keeps the kubelet from saying what is so,
 * which it would every ten seconds; it goes on to run pods and to resize them.
 *
 * @module
 */
import { createKubectl } from "../../kubectl.ts";
import type { RealNode } from "../real_node.ts";
import { silencedKubelet, SILENCING_POLICY } from "../pods/silenced_kubelet.ts";
import { until } from "../until.ts";

/** A condition of a node. */
export type NodeConditionType = "Ready" | "MemoryPressure" | "DiskPressure" | "PIDPressure";

const kubectl = createKubectl();

/** Keeps the conditions at this status until the end; then the kubelet's own come back. */
export async function nodeConditions(
  node: Pick<RealNode, "connection" | "create">,
  { nodeName, types, status }: {
    readonly nodeName: string;
    readonly types: readonly NodeConditionType[];
    readonly status: "True" | "False";
  },
): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  undo.use(await silencedKubelet(node, nodeName));
  await until("kubelet that is silent", async () => {
    const path = `/api/v1/nodes/${nodeName}`;
    const present = await node.connection.request({ path });
    // Not `patch`, which reads the status first, and that no kubelet may.
    const { ok, stderr } = await kubectl.run([
      ...["replace", "--raw", `${path}/status?dryRun=All`, "-f", "-"],
      ...[`--as=system:node:${nodeName}`, "--as-group=system:nodes"],
    ], present);
    // Another refusal, or a server in trouble, keeps no kubelet silent.
    if (!ok && stderr.includes(SILENCING_POLICY)) return true;
    throw new Error(ok ? "it is not silent" : stderr.trim());
  });
  const conditions = types.map((type) => ({ type, status, reason: "Test", message: "a test" }));
  await node.connection.request({
    method: "PATCH",
    path: `/api/v1/nodes/${nodeName}/status`,
    contentType: "application/strategic-merge-patch+json",
    body: { status: { conditions } },
  });
  return undo.move();
}

/** Name of the cluster's first node. */
export async function firstNode({ connection }: Pick<RealNode, "connection">): Promise<string> {
  const { items } = await connection.request({ path: "/api/v1/nodes" }) as {
    items: { metadata: { name: string } }[];
  };
  return items[0]?.metadata.name ?? "";
}

/** What the cluster's first node says of itself, for messages: `Ready=True MemoryPressure=False`. */
export async function conditionsText(
  { connection }: Pick<RealNode, "connection">,
): Promise<string> {
  const { items: [first] } = await connection.request({ path: "/api/v1/nodes" }) as {
    items: { status: { conditions?: { type: string; status: string }[] } }[];
  };
  return (first?.status.conditions ?? []).map(({ type, status }) => `${type}=${status}`).join(" ");
}
