/** Failures of every part while the market runs on a real node. */
import { assertAgreement, quotaOf, whenQuota } from "./scene/limits.ts";
import { compactHistory, withoutAPIServer } from "./scene/harness_access.ts";
import { loadPod } from "./scene/load_pod.ts";
import { processOne } from "./scene/node_cgroups.ts";
import { deletePod, leader, leaseHolder, podsOf, whenReady } from "./scene/product.ts";
import {
  onNode,
  openRealNode,
  type PodName,
  type RealNode,
  type ScratchNamespace,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";

/**
 * Ours after an outage: a candidate that has started meanwhile watches the dead leader's Lease for 15
 * s, then come the copies and the raise.
 */
const OURS_AFTER_OUTAGE_MS = 45_000;

/** Original limits are small: several such pods are raised at the same time. */
const load = (namespace: ScratchNamespace, name: string): Record<string, unknown> =>
  loadPod({
    name,
    namespace: namespace.name,
    containers: [{ name: "load", request: "50m", limit: "100m", threads: 1, burstSeconds: 300 }],
  });

/** Whether the API server has the only node as Ready. */
async function nodeIsReady({ items }: RealNode): Promise<boolean> {
  const nodes = await items("/api/v1/nodes");
  return nodes.flatMap(({ status }) => listOf(objectOf(status).conditions)).map(objectOf)
    .some(({ type, status }) => type === "Ready" && status === "True");
}

/** Loads the pod and waits until its container is raised. */
async function assertRaised(node: RealNode, name: PodName): Promise<void> {
  await node.signal(name, "load");
  await assertLargerQuota(node, name);
}

/** Waits until the kernel gives a loaded pod's container more than the original limit. */
async function assertLargerQuota(node: RealNode, name: PodName): Promise<void> {
  await whenQuota(node, name, (quota) => quota > 200, { timeoutMs: 90_000 });
  await assertAgreement(node, name);
}

/** Resolves when another one leads, be it a new life of the same pod. */
async function whenLedByAnother(node: RealNode, old: string, timeoutMs: number): Promise<void> {
  await until("another leader", async () => {
    const holder = await leaseHolder(node);
    return holder !== "" && holder !== old ? holder : undefined;
  }, { timeoutMs });
}

Deno.test(
  "a controller leads within 20 s after the leader was killed",
  onNode(async (node, namespace) => {
    await whenReady(node, "mbcas-controller", 2);
    await node.run(load(namespace, "orphan"));
    const old = await until("a leader", () => leader(node));
    const holder = await leaseHolder(node);
    const pods = await podsOf(node, "mbcas-controller");
    const pod = pods.find(({ metadata }) => metadata.name === old);
    assert.ok(pod !== undefined);
    Deno.kill(processOne(pod, "controller"), "SIGKILL");
    await whenLedByAnother(node, holder, 20_000);
    await assertRaised(node, namespace.pod("orphan"));
    await whenReady(node, "mbcas-controller", 2);
  }),
);

Deno.test("the standby controller takes over at once when the leader's pod is deleted", async () => {
  using node = await openRealNode();
  await whenReady(node, "mbcas-controller", 2);
  const old = await until("a leader", () => leader(node));
  const holder = await leaseHolder(node);
  await deletePod(node, old);
  await whenLedByAnother(node, holder, 8000);
  await whenReady(node, "mbcas-controller", 2);
});

Deno.test(
  "agent and controllers go on after the API server was away for 20 s and has dropped its history, agents without a restart",
  onNode(async (node, namespace) => {
    // The controller's leader may end itself when it can't renew its lease; an agent has no reason to.
    const agents = async (): Promise<string[]> =>
      (await podsOf(node, "mbcas-agent")).flatMap(({ containers }) =>
        containers.map(({ containerID }) => containerID ?? "")
      );
    const before = await agents();
    for (const name of ["patient", "early"]) await node.run(load(namespace, name));
    await withoutAPIServer(20_000, compactHistory);
    const patient = namespace.pod("patient");
    await node.signal(patient, "load");
    // Nothing is changed on a node that is not Ready, and a heartbeat that comes back after the API
    // server makes it so for a while: what counts is the time in which it was Ready.
    let readySince = performance.now();
    const overdue = await until("raised limit in the pod's spec", async () => {
      const [container] = (await node.pod(patient))?.containers ?? [];
      if ((container?.limits.cpu ?? 0) > 200) return "no";
      if (!await nodeIsReady(node)) readySince = performance.now();
      return performance.now() - readySince > OURS_AFTER_OUTAGE_MS ? "yes" : undefined;
    }, { timeoutMs: 240_000, everyMs: 250 });
    assert.equal(overdue, "no", `a raise within ${OURS_AFTER_OUTAGE_MS} ms on a Ready node`);
    // The kubelet's own watch comes back after waits that have doubled while the server was away.
    await assertLargerQuota(node, patient);
    assert.deepEqual(await agents(), before, "no agent was restarted");
    // After a server's restart the other components need up to a minute before they start a pod.
    await node.run(load(namespace, "late"), { timeoutMs: 180_000 });
    for (const name of ["early", "late"]) await assertRaised(node, namespace.pod(name));
  }),
);

Deno.test(
  "a new agent takes over the limits as it finds them",
  onNode(async (node, namespace) => {
    const pod = await node.run(load(namespace, "kept"));
    await assertRaised(node, namespace.pod("kept"));
    const quota = (): Promise<number> => quotaOf(node, pod.metadata);
    const raised = await quota();
    const [agent] = await podsOf(node, "mbcas-agent");
    assert.ok(agent !== undefined);
    await deletePod(node, agent.metadata.name);
    let least = await quota();
    await until("a new agent", async () => {
      least = Math.min(least, await quota());
      const [now] = await podsOf(node, "mbcas-agent");
      return now !== undefined && now.ready && now.metadata.uid !== agent.metadata.uid
        ? now
        : undefined;
    }, { timeoutMs: 90_000 });
    // Beyond its warm-up, in which it lowers nothing.
    for (let i = 0; i < 150; i++) {
      least = Math.min(least, await quota());
      await pause(100);
    }
    assert.ok(least >= raised, `the limit of a loaded pod stayed ${raised} m, was ${least} m`);
    await assertAgreement(node, namespace.pod("kept"));
  }),
);
