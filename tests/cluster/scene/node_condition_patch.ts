/**
 * Conditions of the node that are not so: the kubelet puts its own in their place every ten seconds,
 * so they are set again and again.
 *
 * @module
 */
import type { RealNode } from "./real_node.ts";
import { pause } from "./until.ts";

/** A condition of a node. */
export type NodeConditionType = "Ready" | "MemoryPressure" | "DiskPressure" | "PIDPressure";

const EVERY_MS = 250;

/** Keeps the conditions at this status until the end; then the kubelet's own come back. */
export function nodeConditions(
  { connection }: Pick<RealNode, "connection">,
  { nodeName, types, status }: {
    readonly nodeName: string;
    readonly types: readonly NodeConditionType[];
    readonly status: "True" | "False";
  },
): AsyncDisposable {
  const stop = new AbortController();
  const conditions = types.map((type) => ({ type, status, reason: "Test", message: "a test" }));
  async function setAgain(): Promise<void> {
    while (!stop.signal.aborted) {
      await connection.request({
        method: "PATCH",
        path: `/api/v1/nodes/${nodeName}/status`,
        contentType: "application/strategic-merge-patch+json",
        body: { status: { conditions } },
      });
      await pause(EVERY_MS);
    }
  }
  const done = setAgain();
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await done;
    },
  };
}

/** Name of the cluster's first node. */
export async function firstNode({ connection }: Pick<RealNode, "connection">): Promise<string> {
  const { items } = await connection.request({ path: "/api/v1/nodes" }) as {
    items: { metadata: { name: string } }[];
  };
  return items[0]?.metadata.name ?? "";
}
