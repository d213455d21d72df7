/**
 * PodDisruptionBudgets: in-place changes disrupt no pod, so a budget that allows no disruption does
 * not stop them, and they use up none of it. What it does is seen beside a Deployment without one.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { appliedAllocation, readyPod, SETTLED, thePod, whenQuota } from "./scene/limits.ts";
import { eventsOf } from "./scene/reported.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { onNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const OWN = 50;

/** The pod of a Deployment of one, once it is Ready. */
async function onlyPod(node: RealNode, deployment: PodName): Promise<Pod> {
  await node.create(
    `/apis/apps/v1/namespaces/${deployment.namespace}/deployments`,
    loadDeployment({
      ...deployment,
      containers: [{ name: "load", request: "10m", limit: `${OWN}m`, burstSeconds: 12 }],
    }),
  );
  return await readyPod(node, deployment);
}

/** Throws the server's refusal of an eviction, which is only tried. */
async function tryEviction({ connection }: RealNode, pod: PodName): Promise<void> {
  await connection.request({
    method: "POST",
    path: `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/eviction`,
    query: { dryRun: "All" },
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: pod },
  });
}

Deno.test(
  "limits change under a PodDisruptionBudget of none, without an eviction or a restart",
  onNode(async (node, namespace) => {
    const budgets = `/apis/policy/v1/namespaces/${namespace.name}/poddisruptionbudgets`;
    await node.create(budgets, {
      metadata: { name: "none" },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: "web" } } },
    });
    const [before, twin] = await Promise.all(
      ["web", "free"].map((name) => onlyPod(node, { namespace: namespace.name, name })),
    );
    assert.ok(before !== undefined && twin !== undefined);
    const name = { namespace: namespace.name, name: before.metadata.name };
    const free = { namespace: namespace.name, name: twin.metadata.name };
    const budget = (): Promise<{ status: { expectedPods: number; disruptionsAllowed: number } }> =>
      node.connection.request({ path: `${budgets}/none` }) as ReturnType<typeof budget>;
    await until("budget that counts the pod", async () => {
      const { status } = await budget();
      return status?.expectedPods === 1 || undefined;
    }, SETTLED);
    await tryEviction(node, free);
    const eviction = tryEviction(node, name);
    await assert.rejects(eviction, (error) => error instanceof ApiError && error.status === 429);

    await Promise.all([before, twin].map((pod) => appliedAllocation(node, pod)));
    await Promise.all([name, free].map(async (one) => {
      await node.signal(one, "load");
      await whenQuota(node, one, (quota) => quota > OWN);
    }));
    const after = await thePod(node, name);
    assert.equal(after.metadata.uid, before.metadata.uid);
    assert.equal(after.containers[0]?.containerID, before.containers[0]?.containerID);
    assert.equal((await budget()).status.disruptionsAllowed, 0);
    // The event comes once the kubelet has confirmed what the kernel shows already.
    const reasons = await until("event of the raise", async () => {
      const reported = (await eventsOf(node, name)).map(({ reason }) => reason);
      return reported.includes("CPULimitApplied") ? reported : undefined;
    }, SETTLED);
    for (const reason of ["Killing", "Evicted", "Preempted"]) {
      assert.ok(!reasons.includes(reason), reason);
    }
  }),
);
