/**
 * What the node says of itself: under pressure the market shares out less of it, and while it is not
 * Ready or on its way out all limits stay as they are.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { createKubectl } from "./kubectl.ts";
import { assertReported, assertUnreported } from "./scene/reported.ts";
import { nodeFigures } from "./scene/load_pod.ts";
import { withSettings } from "./scene/product.ts";
import {
  boundBy,
  boundsOf,
  OUTSIDE,
  quotaOf,
  takeIn,
  WAITING_OWN,
  waitingPod,
  whenQuota,
} from "./scene/limits.ts";
import {
  firstNode,
  onNode,
  openRealNode,
  orGone,
  type PodName,
  type RealNode,
  withObject,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

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

Deno.test("each pressure on the node takes a tenth of the market's capacity, and gives it back", async () => {
  using node = await openRealNode();
  const nodeName = await firstNode(node);
  // Where idle CPU is free, the capacity depends on how much of it is idle just now.
  await using _settings = await withSettings({ market: { idleCPU: "tight" } });
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

Deno.test(
  "limits stay on a node that is not Ready, and move once it is",
  onNode(async (node, namespace) => {
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
  }, OUTSIDE),
);

Deno.test(
  "limits stay on a node that is marked for removal, and move once it is not",
  onNode(async (node, namespace) => {
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
  }, OUTSIDE),
);

Deno.test(
  "limits are raised and not lowered on a node that was just cordoned",
  onNode(async (node, namespace) => {
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
  }, OUTSIDE),
);

/** A condition of a node. */
type NodeConditionType = "Ready" | "MemoryPressure" | "DiskPressure" | "PIDPressure";

/** Keeps the conditions at this status until the end; then the kubelet's own come back. */
async function nodeConditions(
  node: RealNode,
  { nodeName, types, status }: {
    readonly nodeName: string;
    readonly types: readonly NodeConditionType[];
    readonly status: "True" | "False";
  },
): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  undo.use(await silencedKubelet(node, nodeName));
  await until("kubelet that is silent", async () => {
    const path = `/api/v1/nodes/${nodeName}`;
    const present = await node.connection.request({ path });
    // Not `patch`, which reads the status first, and that no kubelet may.
    const { ok, stderr } = await kubectl.run([
      ...["replace", "--raw", `${path}/status?dryRun=All`, "-f", "-"],
      ...[`--as=system:node:${nodeName}`, "--as-group=system:nodes"],
    ], present);
    // Another refusal, or a server in trouble, keeps no kubelet silent.
    if (!ok && stderr.includes(SILENCING_POLICY)) return true;
    throw new Error(ok ? "it is not silent" : stderr.trim());
  });
  const conditions = types.map((type) => ({ type, status, reason: "Test", message: "a test" }));
  await node.connection.request(
    patchRequest("strategic", {
      path: `/api/v1/nodes/${nodeName}/status`,
      body: { status: { conditions } },
    }),
  );
  return undo.move();
}

/** What the cluster's first node says of itself, for messages: `Ready=True MemoryPressure=False`. */
async function conditionsText({ items }: RealNode): Promise<string> {
  const [first] = await items("/api/v1/nodes");
  return listOf(objectOf(first?.status).conditions).map(objectOf)
    .map(({ type, status }) => `${type}=${status}`).join(" ");
}

const GROUP = "/apis/admissionregistration.k8s.io/v1";
/** Name of the policy, which its refusals contain. */
const SILENCING_POLICY = "try-node-conditions";

/**
 * Refuses what this node's kubelet says of its status, and no other's, until the end. What a run that
 * was interrupted has left behind is removed first.
 */
async function silencedKubelet(node: RealNode, nodeName: string): Promise<AsyncDisposable> {
  const metadata = { name: SILENCING_POLICY };
  const objects = {
    validatingadmissionpolicies: {
      matchConstraints: {
        resourceRules: [{
          apiGroups: [""],
          apiVersions: ["v1"],
          operations: ["UPDATE"],
          resources: ["nodes/status"],
        }],
      },
      validations: [{
        expression: `object.metadata.name != '${nodeName}' || ` +
          "!('system:nodes' in request.userInfo.groups)",
      }],
    },
    validatingadmissionpolicybindings: {
      policyName: SILENCING_POLICY,
      validationActions: ["Deny"],
    },
  };
  await using undo = new AsyncDisposableStack();
  for (const [kind, spec] of Object.entries(objects)) {
    await orGone(node.remove(`${GROUP}/${kind}/${SILENCING_POLICY}`));
    undo.use(await withObject(node, `${GROUP}/${kind}`, { metadata, spec }));
  }
  return undo.move();
}
