/**
 * A node with an agent that does not answer any more: the limits that its pods came with come back.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { assertRestored, raisedPod, whenRaised } from "./scene/limits.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";
import { withSettings } from "./scene/product.ts";

const kubectl = createKubectl();

Deno.test("a node with an agent that has fallen silent gives its pods their original limits back", async () => {
  using node = await openRealNode();
  await using _settings = await withSettings({
    controller: { agentSilentAfter: "20s" },
    agent: { heartbeat: "5s" },
  });
  await using namespace = await scratchNamespace(node.connection);
  const name = { namespace: namespace.name, name: "widowed" };
  await raisedPod(node, name);
  const nowhere = (value: string | null): Promise<string> =>
    kubectl.must([
      ...["patch", "daemonset", "mbcas-agent", "-n", "mbcas-system", "-p"],
      JSON.stringify({ spec: { template: { spec: { nodeSelector: { nowhere: value } } } } }),
    ]);
  await nowhere("true");
  try {
    await assertRestored(node, name);
    const pod = await node.pod(name);
    const allocation = await node.allocation(namespace.name, pod?.metadata.uid ?? "");
    assert.match(`${allocation?.status?.reason} ${allocation?.status?.message}`, /silent|lease/i);
  } finally {
    await nowhere(null);
  }
  await whenRaised(node, name, { timeoutMs: 90_000 });
});
