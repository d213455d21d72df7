/**
 * PodDisruptionBudgets: in-place changes disrupt nobody, so a budget that allows no disruption does
 * not stop them, and they use up none of it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { appliedAllocation, SETTLED } from "./scene/agreement.ts";
import { deploymentPods } from "./scene/deployment_pods.ts";
import { eventsOf } from "./scene/event_texts.ts";
import { thePod, whenQuota } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { openRealNode } from "./scene/real_node.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { until } from "./scene/until.ts";

const OWN = 50;

Deno.test("limits change under a PodDisruptionBudget of none, without an eviction or a restart", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  const budgets = `/apis/policy/v1/namespaces/${namespace.name}/poddisruptionbudgets`;
  await node.create(budgets, {
    metadata: { name: "none" },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: "web" } } },
  });
  const deployment = { namespace: namespace.name, name: "web" };
  await node.create(
    `/apis/apps/v1/namespaces/${namespace.name}/deployments`,
    loadDeployment({
      ...deployment,
      containers: [{ name: "load", request: "10m", limit: `${OWN}m`, burstSeconds: 12 }],
    }),
  );
  const before = await until("pod of the Deployment", async () => {
    const [first] = await deploymentPods(node, deployment);
    return first?.ready ? first : undefined;
  }, SETTLED);
  const name = { namespace: namespace.name, name: before.metadata.name };
  const budget = (): Promise<{ status: { expectedPods: number; disruptionsAllowed: number } }> =>
    node.connection.request({ path: `${budgets}/none` }) as ReturnType<typeof budget>;
  await until("budget that counts the pod", async () => {
    const { status } = await budget();
    return status?.expectedPods === 1 || undefined;
  }, SETTLED);
  const eviction = node.create(`/api/v1/namespaces/${namespace.name}/pods/${name.name}/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: name,
  });
  await assert.rejects(eviction, (error) => error instanceof ApiError && error.status === 429);

  await appliedAllocation(node, before);
  await node.signal(name, "load");
  await whenQuota(node, name, (quota) => quota > OWN);
  const after = await thePod(node, name);
  assert.equal(after.metadata.uid, before.metadata.uid);
  assert.equal(after.containers[0]?.containerID, before.containers[0]?.containerID);
  assert.equal((await budget()).status.disruptionsAllowed, 0);
  // The event comes once the kubelet has confirmed what the kernel shows already.
  const reasons = await until("event of the raise", async () => {
    const told = (await eventsOf(node, name)).map(({ reason }) => reason);
    return told.includes("CPULimitApplied") ? told : undefined;
  }, SETTLED);
  for (const word of ["Killing", "Evicted", "Preempted"]) assert.ok(!reasons.includes(word), word);
});
