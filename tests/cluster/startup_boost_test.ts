/**
 * Pods that start get more CPU until they are Ready and a little longer, where that is allowed.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { SETTLED } from "./scene/limits.ts";
import { assertReported, assertUnreported } from "./scene/reported.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import {
  openRealNode,
  type PodName,
  type RealNode,
  type ScratchNamespace,
  scratchNamespace,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

const OWN = 200;
/** The namespace allows no burst, so that nothing but the boost raises a limit. */
const NO_BURST = { "mbcas.io/burst-factor": "1" };
const BOOST = { "mbcas.io/startup-boost": "3x,8s" };
const kubectl = createKubectl();

/** An idle pod that is Ready once the file `/tmp/ready` is there. */
async function startingPod(
  node: RealNode,
  { namespace, name, annotations }: PodName & {
    readonly annotations: Readonly<Record<string, string>>;
  },
): Promise<PodName> {
  const containers = [{ name: "load", request: "50m", limit: `${OWN}m` }];
  const pod = loadPod({ name, namespace, containers, annotations }) as {
    spec: { containers: Record<string, unknown>[] };
  };
  for (const container of pod.spec.containers) {
    container["readinessProbe"] = {
      exec: { command: ["test", "-e", "/tmp/ready"] },
      periodSeconds: 1,
    };
  }
  await node.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  await until(`running pod ${name}`, async () => {
    const now = await node.pod({ namespace, name });
    return now?.phase === "Running" ? now : undefined;
  }, SETTLED);
  return { namespace, name };
}

async function quotaOf(node: RealNode, name: PodName): Promise<number> {
  const pod = await node.pod(name);
  assert.ok(pod !== undefined);
  return enforcedLimits(podDirectories(pod)).containers.get("load") ?? 0;
}

function eventsOf({ name }: ScratchNamespace, reason: string): Promise<string> {
  return kubectl.must(["get", "events", "-n", name, "--field-selector", `reason=${reason}`]);
}

Deno.test("a pod that starts has its boosted limit until it has been Ready for the time it asks for, others don't", async () => {
  using node = await openRealNode();
  await using allowed = await scratchNamespace(node.connection, {
    labels: { ...NO_BURST, "mbcas.io/allow-overrides": "true" },
  });
  await using strict = await scratchNamespace(node.connection, { labels: NO_BURST });
  const [boosted, plain, refused] = await Promise.all([
    startingPod(node, { namespace: allowed.name, name: "boosted", annotations: BOOST }),
    startingPod(node, { namespace: allowed.name, name: "plain", annotations: {} }),
    startingPod(node, { namespace: strict.name, name: "refused", annotations: BOOST }),
  ]);
  const whenBoosted = async () => await quotaOf(node, boosted) > 2 * OWN || undefined;
  await until("boosted limit", whenBoosted, SETTLED);
  assert.ok(await quotaOf(node, boosted) <= 3 * OWN);
  assert.equal(await quotaOf(node, plain), OWN);
  assert.equal(await quotaOf(node, refused), OWN);
  assert.match(await eventsOf(allowed, "CPULimitBounded"), /StartupBoost: ceilings × 3/);
  await assertReported(node, boosted, { bound: "StartupBoost" });
  await until(
    "warning",
    async () =>
      /startup-boost: "3x,8s" /.test(await eventsOf(strict, "AnnotationIgnored")) ||
      undefined,
  );

  await kubectl.must([
    ...["exec", "-n", boosted.namespace, boosted.name, "--", "touch", "/tmp/ready"],
  ]);
  await until("Ready pod", async () => (await node.pod(boosted))?.ready || undefined, SETTLED);
  await pause(3000);
  assert.ok(await quotaOf(node, boosted) > 2 * OWN, "the boost holds on for a while");
  await until(
    "original limit",
    async () => await quotaOf(node, boosted) === OWN || undefined,
    SETTLED,
  );
  const { metadata } = await node.pod(boosted) ?? assert.fail("the pod is gone");
  const allocation = await node.allocation(boosted.namespace, metadata.uid);
  const rules = allocation?.status?.bounds?.rules ?? [];
  assert.deepEqual(rules.filter(({ reason }) => reason === "StartupBoost"), []);
  await assertUnreported(node, boosted, "StartupBoost");
});
