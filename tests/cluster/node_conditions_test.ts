/**
 * What the node says of itself: under pressure the market shares out less of it, and while it is not
 * Ready or on its way out all limits stay as they are. No kubelet of a user's own cluster is
 * silenced: an interruption would leave it so.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import { createKubectl } from "./kubectl.ts";
import { assertReported, assertUnreported } from "./scene/assert_reported.ts";
import { nodeFigures } from "./scene/pods/ballast.ts";
import { isHarness } from "./scene/product/harness_access.ts";
import { boundBy, boundsOf, quotaOf, whenQuota } from "./scene/pods/limits.ts";
import {
  conditionsText,
  firstNode,
  nodeConditions,
  type NodeConditionType,
} from "./scene/nodes/node_condition_patch.ts";
import { openRealNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { pause, until } from "./scene/until.ts";
import { OUTSIDE, takeIn, WAITING_OWN, waitingPod } from "./scene/pods/waiting_pod.ts";

const kubectl = createKubectl();
/** Share of allocatable that is never shared out. */
const RESERVE = 0.1;

/** An agent looks at its node every 15 s; the rest is for its next round, and for a busy machine. */
const SEEN_MS = 30_000;
/** How often a kubelet looks whether its conditions are still as it has reported. */
const KUBELET_MS = 10_000;

/** Waits until the market's part of the node, before unmanaged CPU is taken off, is this share. */
function whenShare(node: RealNode, share: number, { timeoutMs = SEEN_MS } = {}): Promise<number> {
  return until(`${share} of the node for the market`, async () => {
    const { capacity, unmanaged, allocatable } = await nodeFigures(node);
    const now = (capacity + unmanaged) / allocatable;
    if (Math.abs(now - share) < 1e-6) return now;
    throw new Error(`it is ${now}, and the node says: ${await conditionsText(node)}`);
  }, { timeoutMs, everyMs: 250 });
}

Deno.test({
  name: "each pressure on the node takes a tenth of the market's capacity, and gives it back",
  ignore: !isHarness(),
  async fn() {
    using node = await openRealNode();
    const nodeName = await firstNode(node);
    await whenShare(node, 1 - RESERVE, { timeoutMs: 60_000 });
    const types: NodeConditionType[] = ["MemoryPressure", "DiskPressure", "PIDPressure"];
    for (const count of [1, 3]) {
      await using _pressed = await nodeConditions(node, {
        nodeName,
        types: types.slice(0, count),
        status: "True",
      });
      await whenShare(node, (1 - RESERVE) * 0.9 ** count);
    }
    await whenShare(node, 1 - RESERVE, { timeoutMs: KUBELET_MS + SEEN_MS });
  },
});

/**
 * Fails unless the pod is held on both sides for this reason, reports so, and its original limit stays.
 */
async function assertHeld(node: RealNode, web: PodName, bound: BoundReason): Promise<void> {
  assert.equal((await boundBy(node, web, bound)).held, "both");
  await Promise.all([assertStays(node, web), assertReported(node, web, { bound })]);
}

/** Fails unless the pod keeps its original limit for eight seconds, and is held all the while. */
async function assertStays(node: RealNode, web: PodName): Promise<void> {
  for (let i = 0; i < 32; i++) {
    await pause(250);
    assert.equal(await quotaOf(node, web), WAITING_OWN);
    assert.equal((await boundsOf(node, web))?.containers[0]?.held, "both");
  }
}

Deno.test({
  name: "limits stay on a node that is not Ready, and move once it is",
  ignore: !isHarness(),
  async fn() {
    using node = await openRealNode();
    await using namespace = await scratchNamespace(node.connection, OUTSIDE);
    const web = await waitingPod(node, namespace.name);
    const nodeName = await firstNode(node);
    {
      const unready = { nodeName, types: ["Ready"], status: "False" } as const;
      await using _unready = await nodeConditions(node, unready);
      await takeIn(node, namespace.name);
      await assertHeld(node, web, "NodeNotReady");
    }
    await whenQuota(node, web, (quota) => quota > WAITING_OWN);
    await assertUnreported(node, web, "NodeNotReady");
  },
});

Deno.test("limits stay on a node that is marked for removal, and move once it is not", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection, OUTSIDE);
  const web = await waitingPod(node, namespace.name);
  const nodeName = await firstNode(node);
  const taint = "ToBeDeletedByClusterAutoscaler=1:NoSchedule";
  await kubectl.must(["taint", "node", nodeName, taint]);
  try {
    await takeIn(node, namespace.name);
    await assertHeld(node, web, "NodeDraining");
  } finally {
    await kubectl.must(["taint", "node", nodeName, `${taint}-`]);
  }
  await whenQuota(node, web, (quota) => quota > WAITING_OWN);
});

Deno.test("limits are raised and not lowered on a node that was just cordoned", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection, OUTSIDE);
  const web = await waitingPod(node, namespace.name);
  const nodeName = await firstNode(node);
  await kubectl.must(["cordon", nodeName]);
  try {
    await takeIn(node, namespace.name);
    assert.equal((await boundBy(node, web, "NodeCordoned")).held, "lower");
    await assertReported(node, web, { bound: "NodeCordoned" });
    await whenQuota(node, web, (quota) => quota > WAITING_OWN);
  } finally {
    await kubectl.must(["uncordon", nodeName]);
  }
  await until("free bounds", async () => {
    const bounds = await boundsOf(node, web);
    return bounds?.containers.every(({ held }) => held === undefined) || undefined;
  });
});
