/**
 * Pods that start get more CPU until they are Ready and a little longer, where that is allowed.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { quotaOf, SETTLED, whenQuota } from "./scene/limits.ts";
import { assertReported, assertUnreported, eventTexts, whenReported } from "./scene/reported.ts";
import { loadPod } from "./scene/load_pod.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
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
  const readyFile = "/tmp/ready";
  const containers = [{ name: "load", request: "50m", limit: `${OWN}m`, readyFile }];
  const pod = loadPod({ name, namespace, containers, annotations });
  await node.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  await until(
    `running pod ${name}`,
    async () => (await node.pod({ namespace, name }))?.phase === "Running" || undefined,
    SETTLED,
  );
  return { namespace, name };
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
  await whenQuota(node, boosted, (quota) => quota > 2 * OWN, SETTLED);
  assert.ok(await quotaOf(node, boosted) <= 3 * OWN);
  assert.equal(await quotaOf(node, plain), OWN);
  assert.equal(await quotaOf(node, refused), OWN);
  const bounded = await eventTexts(node, { ...boosted, reason: "CPULimitBounded" });
  assert.match(bounded.join(), /StartupBoost: ceilings × 3/);
  await assertReported(node, boosted, { bound: "StartupBoost" });
  assert.match(
    await whenReported(node, { ...refused, reason: "AnnotationIgnored" }),
    /startup-boost: "3x,8s" /,
  );

  await kubectl.must([
    ...["exec", "-n", boosted.namespace, boosted.name, "--", "touch", "/tmp/ready"],
  ]);
  await until("Ready pod", async () => (await node.pod(boosted))?.ready || undefined, SETTLED);
  await pause(3000);
  assert.ok(await quotaOf(node, boosted) > 2 * OWN, "the boost holds on for a while");
  await whenQuota(node, boosted, (quota) => quota === OWN, SETTLED);
  const { metadata } = await node.pod(boosted) ?? assert.fail("the pod is gone");
  const allocation = await node.allocation(boosted.namespace, metadata.uid);
  const rules = allocation?.status?.bounds?.rules ?? [];
  assert.deepEqual(rules.filter(({ reason }) => reason === "StartupBoost"), []);
  await assertUnreported(boosted, "StartupBoost");
});
