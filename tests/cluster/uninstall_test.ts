/**
 * The way out as the guide has it: afterwards every pod has the limits that it came with, and nothing of
 * the product is left. In the end it is installed again.
 *
 * @module
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, SETTLED, thePod } from "./scene/limits.ts";
import { coalloc, leftovers, whenReady } from "./scene/product.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const OVERLAY = new URL("../../manifests/overlays/kind", import.meta.url).pathname;
const kubectl = createKubectl();

/** Limits by container: what spec, kubelet and kernel say, which must be the same three times. */
async function limitsOf(node: RealNode, name: PodName): Promise<Record<string, number>> {
  const pod = await thePod(node, name);
  const { containers } = enforcedLimits(podDirectories(pod));
  return Object.fromEntries(
    pod.containers.map(({ name, limits, applied }) => {
      const kernel = containers.get(name) ?? 0;
      assert.deepEqual(
        [limits.cpu, applied.limits.cpu],
        [kernel, kernel],
        `three limits of ${name}`,
      );
      return [name, kernel];
    }),
  );
}

Deno.test("uninstalled as documented, every pod has its original limits and nothing is left", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  // Small, so that they are raised beside each other.
  const own: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    alone: { load: 100 },
    pair: { load: 80, side: 60 },
    idle: { load: 110 },
  };
  const pods = await Promise.all(
    Object.entries(own).map(([name, limits]) =>
      node.run(loadPod({
        ...namespace.pod(name),
        containers: Object.entries(limits).map(([container, limit]) => ({
          ...{ name: container, request: "30m", limit: `${limit}m`, burstSeconds: 300 },
        })),
      }))
    ),
  );
  for (const pod of pods) await appliedAllocation(node, pod);
  const loaded = ["alone", "pair"].map(namespace.pod);
  for (const name of loaded) await node.signal(name, "load");
  await until("limits other than their own", async () => {
    const now = await Promise.all(loaded.map((name) => limitsOf(node, name)));
    assert.ok(now.every(({ load = 0 }) => load > 160), JSON.stringify(now));
    return true;
  }, SETTLED);

  const restored = await coalloc("restore", "--all", "--yes");
  assert.equal(restored.code, 0, restored.stdout + restored.stderr);
  await until("end of all allocations", async () => {
    const { stdout, stderr } = await kubectl.run(["get", "podallocations", "-A"]);
    return /No resources found/.test(stdout + stderr) ? true : undefined;
  }, SETTLED);
  try {
    await kubectl.must(["delete", "-k", OVERLAY, "--timeout=120s"]);
    await until("end of all that was installed", async () => {
      assert.deepEqual(await leftovers(), []);
      return true;
    }, SETTLED);
    for (const [pod, limits] of Object.entries(own)) {
      assert.deepEqual(await limitsOf(node, namespace.pod(pod)), limits, pod);
    }
    const raw = await node.items(`/api/v1/namespaces/${namespace.name}/pods`);
    const statuses = raw.flatMap(({ status }) => listOf(objectOf(status).containerStatuses));
    for (const one of statuses) assert.equal(objectOf(one).restartCount, 0, "never restarted");
  } finally {
    await kubectl.must(["apply", "-k", OVERLAY]);
    await whenReady(node, "mbcas-controller", 2);
    await whenReady(node, "mbcas-agent", 1);
  }
});
