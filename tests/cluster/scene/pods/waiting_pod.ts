/**
 * A throttled pod that is outside of the market until its namespace is taken in: so that what is to
 * hold it back stands before the market sees it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { quotaOf } from "./limits.ts";
import { loadPod } from "./load_pod.ts";
import type { PodName, RealNode } from "../real_node.ts";
import type { NamespaceMarks } from "../scratch_namespace.ts";

/** Original limit of the pod, millicores: small, so that many of them fit a busy machine. */
export const WAITING_OWN = 40;

/** For its namespace: outside of the market, and limits may be doubled. */
export const OUTSIDE: NamespaceMarks = {
  labels: { "mbcas.io/burst-factor": "2", "mbcas.io/managed": "false" },
};

/** Makes the pod, and waits until it runs under its original limit. */
export async function waitingPod(node: RealNode, namespace: string): Promise<PodName> {
  const name = { namespace, name: "web" };
  const containers = [{ name: "load", request: "10m", limit: `${WAITING_OWN}m`, busy: true }];
  await node.run(loadPod({ ...name, containers }), { timeoutMs: 120_000 });
  assert.equal(await quotaOf(node, name), WAITING_OWN);
  return name;
}

/** Takes the namespace into the market. */
export async function takeIn({ connection }: RealNode, namespace: string): Promise<void> {
  await connection.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { labels: { "mbcas.io/managed": "true" } } },
  });
}
