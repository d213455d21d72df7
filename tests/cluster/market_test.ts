/**
 * The market on a real node: agent and controller run as pods, the kernel throttles, limits move. How
 * they come down when a load ends: `demand_test.ts`. Every way out of the market gives a pod the
 * limits that it came with, and they stay.
 *
 * @module
 */
import {
  assertAgreement,
  assertRestored,
  quotaOf,
  RAISED_OWN,
  raisedPod,
  SETTLED,
  whenQuota,
  whenRaised,
} from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { cpuAccount, type PodDirectories, podDirectories } from "./scene/node_cgroups.ts";
import { auditLines, coalloc } from "./scene/product.ts";
import { onNode, type RealNode } from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { createKubectl } from "./kubectl.ts";
import { eventTexts } from "./scene/reported.ts";
import assert from "node:assert/strict";

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
    const name = namespace.pod("first");
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
    await node.merge(`/api/v1/namespaces/${namespace.name}/pods/steady`, {
      metadata: { annotations: { "mbcas.io/managed": null } },
    });
    const after = await until("idle container", async () => {
      const rate = await throttledRate(directories, 5000);
      return rate < 20 ? rate : undefined;
    }, SETTLED);
    assert.ok(after < 20);
    await assertAgreement(node, namespace.pod("steady"));
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

const kubectl = createKubectl();
/** The value that another client sets instead of the original limit, millicores. */
const EDITED = 180;

/** Sets or removes (null) an annotation of an object. */
async function annotate(node: RealNode, path: string, value: string | null): Promise<void> {
  await node.merge(path, { metadata: { annotations: { "mbcas.io/managed": value } } });
}

// Each on a pod of its own, with a load that is small: they are raised together.
testsAtOnce({
  "a bare pod with a record that is deleted has its original limits back, from the pod itself":
    onNode(async (node, namespace) => {
      const name = namespace.pod("unrecorded");
      await raisedPod(node, name);
      const { metadata: { uid = "" } = {} } = await node.pod(name) ?? {};
      await annotate(node, `/api/v1/namespaces/${namespace.name}/pods/unrecorded`, "false");
      await kubectl.run(["delete", "podallocation", uid, "-n", namespace.name]);
      await assertRestored(node, name);
    }),
  "a limit that another client writes is the new original limit": onNode(
    async (node, namespace) => {
      const name = namespace.pod("edited");
      await raisedPod(node, name);
      const patch = {
        spec: { containers: [{ name: "load", resources: { limits: { cpu: `${EDITED}m` } } }] },
      };
      await kubectl.must([
        ...["patch", "pod", "edited", "-n", namespace.name, "--subresource=resize"],
        ...["-p", JSON.stringify(patch)],
      ]);
      const pod = await node.pod(name);
      await until("new original limit on record", async () => {
        const allocation = await node.allocation(namespace.name, pod?.metadata.uid ?? "");
        return allocation?.status?.originalLimits?.[0]?.cpu === `${EDITED}m` || undefined;
      }, SETTLED);
      const reported = await until(
        "event",
        async () => (await eventTexts(node, { ...name, reason: "OriginalLimitChanged" }))[0],
      );
      assert.match(reported, new RegExp(`\\bload to ${EDITED}m\\b.*\\b${RAISED_OWN}m\\b`));
      const { stdout } = await coalloc("explain", "edited", "-n", namespace.name);
      assert.match(stdout, new RegExp(`original limit ${EDITED}m`));
      await whenRaised(node, name);
      await annotate(node, `/api/v1/namespaces/${namespace.name}/pods/edited`, "false");
      await assertRestored(node, name, EDITED);
      assert.partialDeepStrictEqual((await auditLines(pod?.metadata.uid ?? "")).at(-1), {
        ...{ source: "restore", outcome: "accepted", reason: "OptedOut", container: "load" },
        after: { limits: { cpu: `${EDITED}m` } },
      });
    },
  ),
});
