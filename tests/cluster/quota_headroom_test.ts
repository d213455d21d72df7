/**
 * Raises fill a namespace's quota by shares, and leave room for one more pod, so that a rollout finds
 * it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseResourceQuota } from "../../adapters/kube/kinds/namespaces.ts";
import { createKubectl } from "./kubectl.ts";
import { assertReported, eventTexts } from "./scene/reported.ts";
import { boundsOf, deploymentPods } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { onNode, type PodName, type RealNode, type ScratchNamespace } from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";

const OWN = 40;
const REPLICAS = 3;
/** Room for raises of 60 m, and for one more pod. */
const MOST = REPLICAS * OWN + 60;
const HARD = MOST + OWN;
const kubectl = createKubectl();

/** Millicores of limits in the namespace, by the specs of its pods and by the quota's own count. */
async function used(
  node: RealNode,
  { namespace, name }: PodName,
): Promise<{ readonly pods: number; readonly quota: number }> {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const [quota] = await node.items(path);
  return {
    pods: await limitsOf(node, { namespace, name }),
    quota: parseResourceQuota(quota).bounds["limits.cpu"]?.used ?? 0,
  };
}

/** Millicores of limits by the specs of the Deployment's pods. */
async function limitsOf(node: RealNode, name: PodName): Promise<number> {
  const pods = await deploymentPods(node, name);
  return pods.reduce((sum, { containers }) => sum + (containers[0]?.limits.cpu ?? 0), 0);
}

/** A Deployment under a quota, with limits that the market has raised as far as it may. */
async function raisedDeployment(
  node: RealNode,
  { name: namespace }: Pick<ScratchNamespace, "name">,
): Promise<PodName> {
  await node.create(`/api/v1/namespaces/${namespace}/resourcequotas`, {
    metadata: { name: "limits" },
    spec: { hard: { "limits.cpu": `${HARD}m` } },
  });
  const name = { namespace, name: "web" };
  const containers = [{ name: "load", request: "10m", limit: `${OWN}m`, busy: true }];
  await node.deploy(loadDeployment({ ...name, containers }, REPLICAS));
  await until("raises within the quota", async () => {
    const { pods, quota } = await used(node, name);
    // Each pod's part is cut to the grid of 10 m.
    if (pods > MOST - 10 * REPLICAS) return true;
    throw new Error(`the limits are ${pods} m, the quota counts ${quota} m`);
  }, { timeoutMs: 120_000 });
  return name;
}

/** Fails when the limits, or what the quota counts of them, leave no room for one more pod. */
async function assertRoom(node: RealNode, web: PodName): Promise<void> {
  for (let i = 0; i < 30; i++) {
    const { pods, quota } = await used(node, web);
    assert.ok(Math.max(pods, quota) <= MOST, `limits of ${pods} m, ${quota} m in the quota`);
    await pause(100);
  }
}

testsAtOnce({
  "raises at once leave a quota room for one more pod, and give it back when one has taken it":
    onNode(async (node, namespace) => {
      const web = await raisedDeployment(node, namespace);
      await assertRoom(node, web);
      const [pod] = await deploymentPods(node, web);
      const name = { ...web, name: pod?.metadata.name ?? "" };
      const bounds = await boundsOf(node, name);
      assert.match(bounds?.reason ?? "", /QuotaExceeded/);
      await assertReported(node, name, { bound: "QuotaExceeded" });

      const scale = ["scale", "-n", web.namespace, "deployment/web", `--replicas=${REPLICAS + 1}`];
      await kubectl.must(scale);
      await until("room for another pod", async () => {
        const { pods, quota } = await used(node, web);
        const count = (await deploymentPods(node, web)).length;
        if (count === REPLICAS + 1 && Math.max(pods, quota) <= MOST) return true;
        throw new Error(`${count} pods, limits of ${pods} m, ${quota} m in the quota`);
      }, { timeoutMs: 90_000 });
      for (const reason of ["FailedCreate", "CPULimitFailed"]) {
        assert.deepEqual(await eventTexts(node, { namespace: web.namespace, reason }), []);
      }

      const quotas = `/api/v1/namespaces/${web.namespace}/resourcequotas`;
      await node.remove(`${quotas}/limits`);
      await until("raises beyond the quota that was", async () => {
        const limits = await limitsOf(node, web);
        if (limits > HARD + OWN) return true;
        throw new Error(`the limits are ${limits} m`);
      }, { timeoutMs: 90_000 });
    }),
  "a rollout finds room in a quota that raises have filled, and ends": onNode(
    async (node, namespace) => {
      const web = await raisedDeployment(node, namespace);
      const { namespace: name } = web;
      await kubectl.must(["rollout", "restart", "-n", name, "deployment/web"]);
      await until(
        "first new pod",
        async () => (await deploymentPods(node, web)).length > REPLICAS || undefined,
        { everyMs: 50 },
      );
      assert.deepEqual(await eventTexts(node, { namespace: name, reason: "FailedCreate" }), []);
      const where = ["-n", name, "deployment/web"];
      await kubectl.must(["rollout", "status", ...where, "--timeout=120s"]);
    },
  ),
});
