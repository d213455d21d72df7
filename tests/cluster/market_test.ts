/**
 * The market on a real node: agent and controller run as pods, the kernel throttles, limits move. How
 * they come down when a load ends: `market_decrease_test.ts`.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { assertAgreement, quotaOf, SETTLED, whenQuota } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { cpuAccount, type PodDirectories, podDirectories } from "./scene/node_cgroups.ts";
import { auditLines } from "./scene/product.ts";
import { onNode } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

/** Throttled ms per second over the next `ms`. */
async function throttledRate(directories: PodDirectories, ms: number): Promise<number> {
  const before = cpuAccount(directories).throttledMs;
  const start = performance.now();
  await pause(ms);
  return 1000 * (cpuAccount(directories).throttledMs - before) / (performance.now() - start);
}

Deno.test(
  "the market raises a container's quota in its cgroup beyond its original limit, on the same pod",
  onNode(async (node, namespace) => {
    const name = { namespace: namespace.name, name: "first" };
    const pod = await node.run(loadPod({
      ...name,
      containers: [{ name: "load", request: "100m", limit: "300m" }],
    }));
    await whenQuota(node, name, (quota) => quota >= 1500, SETTLED);
    await assertAgreement(node, name);
    assert.equal(
      (await node.pod(name))?.metadata.uid,
      pod.metadata.uid,
      "the pod was not replaced",
    );
    const [line] = await auditLines(pod.metadata.uid);
    const { nodeName } = pod;
    assert.partialDeepStrictEqual(line, {
      ...{ source: "market", action: "resize", outcome: "accepted", kind: "Pod" },
      ...{ ...name, node: nodeName, container: "load", before: { limits: { cpu: "300m" } } },
    });
    assert.ok((line?.boundsRevision ?? 0) >= 1);
    assert.match(line?.auditID ?? "", /^[-0-9a-f]{36}$/);
  }),
);

Deno.test(
  "the market ends the throttling of a container with a demand that fits the node",
  onNode(async (node, namespace) => {
    const pod = await node.run(loadPod({
      name: "steady",
      namespace: namespace.name,
      annotations: { "mbcas.io/managed": "false" },
      containers: [{ name: "load", request: "100m", limit: "400m", busy: true }],
    }));
    const directories = podDirectories(pod);
    await pause(2000);
    const before = await throttledRate(directories, 5000);
    assert.ok(before > 100, `without the market it is throttled ${before.toFixed(0)} ms/s`);
    await node.connection.request(
      patchRequest("merge", {
        path: `/api/v1/namespaces/${namespace.name}/pods/steady`,
        body: { metadata: { annotations: { "mbcas.io/managed": null } } },
      }),
    );
    const after = await until("idle container", async () => {
      const rate = await throttledRate(directories, 5000);
      return rate < 20 ? rate : undefined;
    }, SETTLED);
    assert.ok(after < 20);
    await assertAgreement(node, { namespace: namespace.name, name: "steady" });
  }),
);

Deno.test(
  "the market manages several containers and a sidecar of one pod, each by its own demand",
  onNode(async (node, namespace) => {
    const pod = await node.run(loadPod({
      name: "many",
      namespace: namespace.name,
      sidecars: [{ name: "proxy", request: "50m", limit: "150m", burstSeconds: 30 }],
      containers: [
        { name: "busy", request: "50m", limit: "300m", busy: true },
        { name: "idle", request: "50m", limit: "300m" },
        { name: "fixed", request: "50m", limit: "200m", resizePolicy: "RestartContainer" },
      ],
    }));
    const many = pod.metadata;
    const whenMore = (container: string, than: number): Promise<true> =>
      until(
        `raised ${container}`,
        async () => await quotaOf(node, many, container) > than || undefined,
        SETTLED,
      );
    await whenMore("busy", 890);
    await node.signal(many, "proxy");
    await whenMore("proxy", 150);
    const fixed = await quotaOf(node, many, "fixed");
    assert.equal(fixed, 200, "a container that a change would restart is left alone");
    const now = await node.pod(many);
    assert.deepEqual(
      now?.containers.map(({ name, containerID }) => [name, containerID]),
      pod.containers.map(({ name, containerID }) => [name, containerID]),
      "no container was restarted",
    );
  }),
);
