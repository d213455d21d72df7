/**
 * The market on a real node: agent and controller run as pods, the kernel throttles, limits move, and
 * every way out of the market gives a pod the limits that it came with. How limits come down when a
 * load ends: `demand_test.ts`.
 */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { assertAgreement, quotaOf, SETTLED, thePod, whenQuota } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { cpuAccount, type PodDirectories, podDirectories } from "./scene/node_cgroups.ts";
import { auditLines, coalloc, productMetrics } from "./scene/product.ts";
import { onNode, podPath, whenReported } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

const MANAGED = "mbcas.io/managed";
const kubectl = createKubectl();

/** Throttled ms per second over the next `ms`. */
async function throttledRate(directories: PodDirectories, ms: number): Promise<number> {
  const before = cpuAccount(directories).throttledMs;
  const start = performance.now();
  await pause(ms);
  return 1000 * (cpuAccount(directories).throttledMs - before) / (performance.now() - start);
}

Deno.test(
  "the market raises a throttled container's quota in its cgroup, without a restart, and its throttling ends",
  onNode(async (node, namespace) => {
    const name = namespace.pod("steady");
    const pod = await node.run(loadPod({
      ...name,
      annotations: { [MANAGED]: "false" },
      containers: [{ name: "load", request: "100m", limit: "300m", busy: true }],
    }));
    const directories = podDirectories(pod);
    await pause(2000);
    const before = await throttledRate(directories, 5000);
    assert.ok(before > 100, `without the market it is throttled ${before.toFixed(0)} ms/s`);
    await node.merge(podPath(name), { metadata: { annotations: { [MANAGED]: null } } });
    await until("end of the throttling", async () => {
      return await throttledRate(directories, 5000) < 20 || undefined;
    }, SETTLED);
    await assertAgreement(node, name);
    const { metadata, containers: [container] } = await thePod(node, name);
    assert.deepEqual([metadata.uid, container?.containerID], [
      pod.metadata.uid,
      pod.containers[0]?.containerID,
    ]);
    const [line] = await auditLines(pod.metadata.uid);
    assert.partialDeepStrictEqual(line, {
      ...{ source: "market", action: "resize", outcome: "accepted", kind: "Pod" },
      ...{ ...name, node: pod.nodeName, container: "load", before: { limits: { cpu: "300m" } } },
    });
    assert.ok((line?.boundsRevision ?? 0) >= 1);
    assert.match(line?.auditID ?? "", /^[-0-9a-f]{36}$/);
  }),
);

const OWN = 100;
const EDITED = 180;
const RAISED = 200;

Deno.test(
  "a limit that another client writes is the new original limit, which a pod that opts out gets back",
  onNode(async (node, namespace) => {
    const name = namespace.pod("edited");
    const { metadata: { uid } } = await node.run(loadPod({
      ...name,
      containers: [{ name: "load", request: "50m", limit: `${OWN}m`, busy: true }],
    }));
    const whenRaised = () => whenQuota(node, name, (quota) => quota > RAISED, SETTLED);
    await whenRaised();
    const resources = { limits: { cpu: `${EDITED}m` } };
    await kubectl.must([
      ...["patch", "pod", name.name, "-n", name.namespace, "--subresource=resize"],
      ...["-p", JSON.stringify({ spec: { containers: [{ name: "load", resources }] } })],
    ]);
    await until("new original limit on record", async () => {
      const { status } = await node.allocation(name.namespace, uid) ?? {};
      return status?.originalLimits?.[0]?.cpu === `${EDITED}m` || undefined;
    }, SETTLED);
    assert.match(
      await whenReported(node, { ...name, reason: "OriginalLimitChanged" }),
      new RegExp(`\\bload to ${EDITED}m\\b.*\\b${OWN}m\\b`),
    );
    const { stdout } = await coalloc("explain", name.name, "-n", name.namespace);
    assert.match(stdout, new RegExp(`original limit ${EDITED}m`));
    await whenRaised();
    const restores = async () =>
      (await productMetrics(node, "mbcas-controller"))
        .get('mbcas_restores_total{cause="OptedOut"}') ?? 0;
    const restoredBefore = await restores();
    await node.merge(podPath(name), { metadata: { annotations: { [MANAGED]: "false" } } });
    await whenQuota(node, name, (quota) => quota === EDITED, SETTLED);
    for (let i = 0; i < 30; i++) {
      await pause(100);
      assert.equal(await quotaOf(node, name), EDITED);
    }
    assert.equal((await thePod(node, name)).containers[0]?.limits.cpu, EDITED);
    assert.ok(await restores() > restoredBefore);
    assert.partialDeepStrictEqual((await auditLines(uid)).at(-1), {
      ...{ source: "restore", outcome: "accepted", reason: "OptedOut", container: "load" },
      after: { limits: { cpu: `${EDITED}m` } },
    });
  }),
);
