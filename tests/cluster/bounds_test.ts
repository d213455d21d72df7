/**
 * Bounds by what is around a pod: limits stay as they are while the node is on its way out, a pod that
 * starts gets more CPU until it is Ready and a little longer where that is allowed, and raises fill a
 * namespace's quota by shares and leave room for one more pod, so that a rollout finds it.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import type { ContainerBounds } from "../../shared/api/pod_allocation.ts";
import { createKubectl } from "./kubectl.ts";
import { assertReported, assertUnreported, eventTexts, whenReported } from "./scene/reported.ts";
import {
  boundBy,
  boundsOf,
  deploymentPods,
  OUTSIDE,
  quotaOf,
  SETTLED,
  takeIn,
  WAITING_OWN,
  waitingPod,
  whenQuota,
} from "./scene/limits.ts";
import {
  firstNode,
  onNode,
  openRealNode,
  type PodName,
  type RealNode,
  type ScratchNamespace,
  scratchNamespace,
} from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { loadDeployment, loadPod } from "./scene/load_pod.ts";
import { parseResourceQuota } from "../../adapters/kube/kinds/namespaces.ts";

const kubectl = createKubectl();
const TAINT = "ToBeDeletedByClusterAutoscaler=1:NoSchedule";

interface Row {
  readonly name: string;
  /** Commands of kubectl about a node. */
  readonly mark: (node: string) => readonly string[];
  readonly unmark: (node: string) => readonly string[];
  readonly bound: BoundReason;
  readonly held: ContainerBounds["held"];
}

const ROWS: readonly Row[] = [
  {
    name: "limits stay on a node that is marked for removal, and move once it is not",
    mark: (node) => ["taint", "node", node, TAINT],
    unmark: (node) => ["taint", "node", node, `${TAINT}-`],
    bound: "NodeDraining",
    held: "both",
  },
  {
    name: "limits are raised and not lowered on a node that was just cordoned",
    mark: (node) => ["cordon", node],
    unmark: (node) => ["uncordon", node],
    bound: "NodeCordoned",
    held: "lower",
  },
];

for (const { name, mark, unmark, bound, held } of ROWS) {
  Deno.test(
    name,
    onNode(async (node, namespace) => {
      const web = await waitingPod(node, namespace.name);
      const whenRaised = () => whenQuota(node, web, (quota) => quota > WAITING_OWN);
      const nodeName = await firstNode(node);
      await kubectl.must(mark(nodeName));
      try {
        await takeIn(node, namespace.name);
        assert.equal((await boundBy(node, web, bound)).held, held);
        await assertReported(node, web, { bound });
        if (held === "lower") await whenRaised();
        else {
          await pause(8000);
          assert.equal(await quotaOf(node, web), WAITING_OWN);
        }
      } finally {
        await kubectl.must(unmark(nodeName));
      }
      await whenRaised();
      await assertUnreported(web, bound);
    }, OUTSIDE),
  );
}

const OWN = 200;
/** The namespace allows no burst, so that nothing but the boost raises a limit. */
const NO_BURST = { "mbcas.io/burst-factor": "1" };
const BOOST = { "mbcas.io/startup-boost": "3x,8s" };

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

const QUOTA_OWN = 40;
const REPLICAS = 3;
/** Room for raises of 60 m, and for one more pod. */
const MOST = REPLICAS * QUOTA_OWN + 60;
const HARD = MOST + QUOTA_OWN;

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
  const containers = [{ name: "load", request: "10m", limit: `${QUOTA_OWN}m`, busy: true }];
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
        if (limits > HARD + QUOTA_OWN) return true;
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
