/**
 * Every way out of the market gives a pod the limits that it came with, and they stay.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, SETTLED } from "./scene/agreement.ts";
import { coalloc } from "./scene/coalloc.ts";
import { eventTexts } from "./scene/event_texts.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { openRealNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { pause, until } from "./scene/until.ts";
import { withSettings } from "./scene/with_settings.ts";

const OWN = 200;
const kubectl = createKubectl();

function quotaOf(node: RealNode, name: PodName): Promise<number> {
  return node.pod(name).then((pod) => {
    assert.ok(pod !== undefined);
    return enforcedLimits(podDirectories(pod)).containers.get("load") ?? 0;
  });
}

/** A pod whose limit the market has raised and whose load goes on. */
async function raisedPod(node: RealNode, name: PodName): Promise<void> {
  const containers = [{ name: "load", request: "100m", limit: `${OWN}m`, burstSeconds: 300 }];
  const pod = await node.run(loadPod({ ...name, containers }));
  await appliedAllocation(node, pod);
  await node.signal(name, "load");
  await until("raise", async () => await quotaOf(node, name) > 400 || undefined, SETTLED);
}

/** Fails unless the pod's own limit comes back, in spec and kernel, and is left alone. */
async function assertRestored(node: RealNode, name: PodName, own = OWN): Promise<void> {
  await until("own limit", async () => await quotaOf(node, name) === own || undefined, SETTLED);
  for (let i = 0; i < 30; i++) {
    await pause(100);
    assert.equal(await quotaOf(node, name), own);
  }
  assert.equal((await node.pod(name))?.containers[0]?.limitCPU, own);
}

/** Sets or removes (null) an annotation of an object. */
async function annotate(node: RealNode, path: string, value: string | null): Promise<void> {
  await node.connection.request({
    method: "PATCH",
    path,
    contentType: "application/merge-patch+json",
    body: { metadata: { annotations: { "mbcas.io/managed": value } } },
  });
}

Deno.test("opting a pod out restores it, and opting in again lets it back", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  const name = { namespace: namespace.name, name: "leaver" };
  await raisedPod(node, name);
  const path = `/api/v1/namespaces/${namespace.name}/pods/leaver`;
  await annotate(node, path, "false");
  await assertRestored(node, name);
  const pod = await node.pod(name);
  await until(
    "end of the allocation",
    async () =>
      await node.allocation(namespace.name, pod?.metadata.uid ?? "") === undefined || undefined,
    SETTLED,
  );
  await annotate(node, path, null);
  await until("raise", async () => await quotaOf(node, name) > 400 || undefined, SETTLED);
});

Deno.test("opting a namespace out restores its pods", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  const name = { namespace: namespace.name, name: "tenant" };
  await raisedPod(node, name);
  await annotate(node, `/api/v1/namespaces/${namespace.name}`, "false");
  await assertRestored(node, name);
});

Deno.test("a limit that somebody else writes is the new own limit", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  const name = { namespace: namespace.name, name: "edited" };
  await raisedPod(node, name);
  const patch = {
    spec: { containers: [{ name: "load", resources: { limits: { cpu: "350m" } } }] },
  };
  await kubectl.must([
    ...["patch", "pod", "edited", "-n", namespace.name, "--subresource=resize"],
    ...["-p", JSON.stringify(patch)],
  ]);
  const pod = await node.pod(name);
  await until("new own limit on record", async () => {
    const allocation = await node.allocation(namespace.name, pod?.metadata.uid ?? "");
    return allocation?.status?.originalLimits?.[0]?.cpu === "350m" || undefined;
  }, SETTLED);
  const told = await until(
    "event",
    async () => (await eventTexts(node, { ...name, reason: "OwnLimitChanged" }))[0],
  );
  assert.match(told, /\bload to 350m\b.*\b200m\b/);
  const { stdout } = await coalloc("explain", "edited", "-n", namespace.name);
  assert.match(stdout, /own limit 350m/);
  await until("raise above it", async () => await quotaOf(node, name) > 400 || undefined, SETTLED);
  await annotate(node, `/api/v1/namespaces/${namespace.name}/pods/edited`, "false");
  await assertRestored(node, name, 350);
});

Deno.test("a node whose agent has fallen silent gives its pods their own limits back", async () => {
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
  await until("raise by the new agent", async () => await quotaOf(node, name) > 400 || undefined, {
    timeoutMs: 90_000,
  });
});
