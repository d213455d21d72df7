/**
 * The way out as the guide has it: afterwards every pod has the limits that it came with, and
 * nothing of the product is left. The last file in order, since it takes the product away; it
 * installs it again in the end.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, SETTLED } from "./scene/limits.ts";
import { coalloc, leftovers, whenReady } from "./scene/product.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const OVERLAY = new URL("../../manifests/overlays/kind", import.meta.url).pathname;
const kubectl = createKubectl();

/** Limits by container: what spec, kubelet and kernel say, which must be the same three times. */
async function limitsOf(node: RealNode, name: PodName): Promise<Record<string, number>> {
  const pod = await node.pod(name);
  assert.ok(pod !== undefined, `${name.name} is there`);
  const { containers } = enforcedLimits(podDirectories(pod));
  const limits = pod.containers.map(
    (
      { name, limits: { cpu: limitCPU = 0 }, applied: { limits: { cpu: appliedLimitCPU = 0 } } },
    ) => {
      const kernel = containers.get(name) ?? 0;
      assert.deepEqual(
        [limitCPU, appliedLimitCPU],
        [kernel, kernel],
        `${name}: three sources, one limit`,
      );
      return [name, kernel] as const;
    },
  );
  return Object.fromEntries(limits);
}

Deno.test(
  "uninstalled as documented, every pod has its original limits and nothing is left",
  uninstall,
);

async function uninstall(): Promise<void> {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  // Small, so that three of them are raised beside each other.
  const own: Record<string, Record<string, number>> = {
    alone: { load: 100 },
    pair: { load: 80, side: 60 },
    idle: { load: 110 },
    blocked: { load: 150 },
  };
  const name = (pod: string): PodName => (namespace.pod(pod));
  const run = async ([pod, limits]: [string, Record<string, number>]): Promise<Pod> =>
    await node.run(loadPod({
      ...name(pod),
      containers: Object.entries(limits).map(([container, limit]) => ({
        name: container,
        request: "30m",
        limit: `${limit}m`,
        burstSeconds: 300,
      })),
    }));
  const pods = await Promise.all(Object.entries(own).map(run));
  for (const pod of pods) await appliedAllocation(node, pod);
  for (const pod of ["alone", "pair", "blocked"]) await node.signal(name(pod), "load");
  await until("limits other than their own", async () => {
    const now = await Promise.all(
      ["alone", "pair", "blocked"].map((pod) => limitsOf(node, name(pod))),
    );
    const raised = now.every(({ load = 0 }) => load > 160);
    assert.ok(raised, JSON.stringify(now));
    return true;
  }, SETTLED);

  // From here on the API refuses the original limit of one of them.
  const ranges = `/api/v1/namespaces/${namespace.name}/limitranges`;
  await node.create(ranges, {
    metadata: { name: "low" },
    spec: { limits: [{ type: "Container", max: { cpu: "130m" } }] },
  });

  const first = await coalloc("restore", "--all", "--yes");
  assert.equal(first.code, 1, first.stdout + first.stderr);
  assert.match(first.stdout, /^RestoreBlocked +\S+\/blocked +.*\bmaximum\b.*\b130m\b/m);
  assert.deepEqual(await limitsOf(node, name("alone")), own["alone"]);
  await node.remove(`${ranges}/low`);
  const second = await coalloc("restore", "--all", "--yes");
  assert.equal(second.code, 0, second.stdout + second.stderr);

  await until("end of all allocations", async () => {
    const { stdout, stderr } = await kubectl.run(["get", "podallocations", "-A"]);
    return /No resources found/.test(stdout + stderr) ? true : undefined;
  }, SETTLED);
  try {
    await kubectl.must(["delete", "-k", OVERLAY, "--timeout=120s"]);
    await until("end of all that was installed", async () => {
      const left = await leftovers();
      assert.deepEqual(left, []);
      return true;
    }, SETTLED);
    for (const [pod, limits] of Object.entries(own)) {
      assert.deepEqual(await limitsOf(node, name(pod)), limits, pod);
      const { restarts } = restartsOf(
        await kubectl.must(["get", "pod", pod, "-n", namespace.name, "-o", "json"]),
      );
      assert.equal(restarts, 0, `${pod} was never restarted`);
    }
  } finally {
    await kubectl.must(["apply", "-k", OVERLAY]);
    await whenReady(node, "mbcas-controller", 2);
    await whenReady(node, "mbcas-agent", 1);
  }
}

function restartsOf(json: string): { restarts: number } {
  const { status: { containerStatuses } } = JSON.parse(json);
  const restarts = containerStatuses.reduce(
    (sum: number, { restartCount }: { restartCount: number }) => sum + restartCount,
    0,
  );
  return { restarts };
}
