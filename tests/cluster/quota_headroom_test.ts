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
import {
  onNode,
  openRealNode,
  type PodName,
  type RealNode,
  scratchNamespace,
} from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { withLiveSettings, withSettings } from "./scene/product.ts";

const OWN = 40;
const REPLICAS = 3;
/** Room for raises of 60 m, and for one more pod. */
const HARD = REPLICAS * OWN + 60 + OWN;
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
    quota: parseResourceQuota(quota).usedLimitsCPU,
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
  { namespace, most, busy = true }: {
    readonly namespace: string;
    readonly most: number;
    readonly busy?: boolean;
  },
): Promise<PodName> {
  await node.create(`/api/v1/namespaces/${namespace}/resourcequotas`, {
    metadata: { name: "limits" },
    spec: { hard: { "limits.cpu": `${HARD}m` } },
  });
  const name = { namespace, name: "web" };
  const containers = [{ name: "load", request: "10m", limit: `${OWN}m`, busy }];
  await node.deploy(loadDeployment({ ...name, containers }, REPLICAS));
  await until("raises within the quota", async () => {
    const { pods, quota } = await used(node, name);
    // Each pod's part is cut to the grid of 10 m.
    if (pods > most - 10 * REPLICAS) return true;
    throw new Error(`the limits are ${pods} m, the quota counts ${quota} m`);
  }, { timeoutMs: 120_000 });
  return name;
}

function restart({ namespace, name }: PodName): Promise<string> {
  return kubectl.must(["rollout", "restart", "-n", namespace, `deployment/${name}`]);
}

/** Fails when the limits, or what the quota counts of them, leave no room for one more pod. */
async function assertRoom(node: RealNode, web: PodName): Promise<void> {
  for (let i = 0; i < 30; i++) {
    const { pods, quota } = await used(node, web);
    assert.ok(Math.max(pods, quota) <= HARD - OWN, `limits of ${pods} m, ${quota} m in the quota`);
    await pause(100);
  }
}

testsAtOnce({
  "raises at once leave a quota room for one more pod, and give it back when one has taken it":
    onNode(async (node, namespace) => {
      const most = HARD - OWN;
      const web = await raisedDeployment(node, { namespace: namespace.name, most });
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
        if (count === REPLICAS + 1 && Math.max(pods, quota) <= most) return true;
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
      const web = await raisedDeployment(node, { namespace: namespace.name, most: HARD - OWN });
      await restart(web);
      await until(
        "first new pod",
        async () => (await deploymentPods(node, web)).length > REPLICAS || undefined,
        { everyMs: 50 },
      );
      assert.deepEqual(
        await eventTexts(node, { ...namespaceOnly(web), reason: "FailedCreate" }),
        [],
      );
      const where = ["-n", web.namespace, "deployment/web"];
      await kubectl.must(["rollout", "status", ...where, "--timeout=120s"]);
    },
  ),
});

// Not beside those: the settings are the controller's.
Deno.test("raises use up a quota of which no room is kept, and a rollout is refused", async () => {
  using node = await openRealNode();
  await using _settings = await withLiveSettings({ market: { quotaHeadroom: 0 } });
  await using namespace = await scratchNamespace(node.connection);
  const web = await raisedDeployment(node, { namespace: namespace.name, most: HARD });
  const { pods, quota } = await used(node, web);
  assert.ok(pods > HARD - OWN && pods <= HARD, `limits of ${pods} m, ${quota} m in the quota`);
  await restart(web);
  const refused = await until("refused pod", async () => {
    const texts = await eventTexts(node, { ...namespaceOnly(web), reason: "FailedCreate" });
    return texts.find((text) => text.includes("exceeded quota"));
  }, { timeoutMs: 60_000 });
  assert.match(refused, /limits\.cpu/);
});

Deno.test("idle pods reach their shares of a quota, and no raise is refused", async () => {
  using node = await openRealNode();
  await using _settings = await withSettings({ market: { idleCPU: "free" } });
  await using namespace = await scratchNamespace(node.connection);
  const most = HARD - OWN;
  const web = await raisedDeployment(node, { namespace: namespace.name, most, busy: false });
  await until("limits at their shares", async () => {
    const pods = await deploymentPods(node, web);
    const limits = pods.map(({ containers }) => containers[0]?.limits.cpu ?? 0);
    if (limits.every((limit) => limit === most / REPLICAS)) return true;
    throw new Error(`the limits are ${limits.join()} m`);
  }, { timeoutMs: 60_000 });
  for (const { metadata } of await deploymentPods(node, web)) {
    const { status } = await node.allocation(web.namespace, metadata.uid) ?? {};
    assert.notEqual(status?.reason, "QuotaExceeded");
  }
  const failed = { ...namespaceOnly(web), reason: "CPULimitFailed" };
  assert.deepEqual(await eventTexts(node, failed), []);
});

function namespaceOnly({ namespace }: PodName): Pick<PodName, "namespace"> {
  return { namespace };
}
