/**
 * Pods as real kubelets and controllers report them: Guaranteed pods are left alone, and taken in with
 * request and limit where they ask; pods in trouble are held from below, each for its reason; raises
 * leave a namespace's quota room for a rollout.
 */
import assert from "node:assert/strict";
import { listOf, numberOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { parseResourceQuota } from "../../adapters/kube/kinds/namespaces.ts";
import { NO_RESOURCES, type Pod } from "../../shared/api/pod.ts";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import { createKubectl } from "./kubectl.ts";
import { boundBy, deploymentPods, readyPod, SETTLED, thePod } from "./scene/limits.ts";
import { type LoadContainer, loadDeployment, loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories, weighedRequests } from "./scene/node_cgroups.ts";
import { coalloc } from "./scene/product.ts";
import {
  eventTexts,
  onNode,
  type PodName,
  podPath,
  type RealNode,
  whenReported,
} from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";

const kubectl = createKubectl();

const OWN = 100;
/** Steps of the market's limits are 10 m, and version 2's weights are 26 m off at most. */
const COARSE = 26;

function guaranteedPod(
  node: RealNode,
  name: PodName,
  annotations: Readonly<Record<string, string>> = {},
): Promise<Pod> {
  const cpu = `${OWN}m`;
  const load = { name: "load", request: cpu, limit: cpu, memory: "64Mi", busy: true };
  return node.run(loadPod({ ...name, annotations, containers: [load] }));
}

/** Millicores of request and limit, in the spec and in the cgroups of pod and container. */
async function valuesOf(node: RealNode, name: PodName) {
  const pod = await thePod(node, name);
  assert.equal(pod.qosClass, "Guaranteed");
  const { requests, limits: { cpu: spec = 0 } } = pod.containers[0] ?? NO_RESOURCES;
  assert.equal(requests.cpu, spec, "request and limit are one in the spec at any time");
  const directories = podDirectories(pod);
  const limits = enforcedLimits(directories);
  const weights = weighedRequests(directories);
  return {
    spec,
    quotas: [limits.containers.get("load"), limits.pod],
    weights: [weights.containers.get("load") ?? 0, weights.pod],
  };
}

/** Waits until spec and cgroups, quota and weight, of pod and container, say what is wanted. */
function whenAll(
  node: RealNode,
  name: PodName,
  wanted: (spec: number) => boolean,
): Promise<number> {
  return until(`values of ${name.name}`, async () => {
    const values = await valuesOf(node, name);
    const { spec, quotas, weights } = values;
    const agree = quotas.every((quota) => quota === spec) &&
      weights.every((weight) => Math.abs(weight - spec) <= COARSE);
    if (wanted(spec) && agree) return spec;
    throw new Error(JSON.stringify(values));
  }, SETTLED);
}

/** Fails if the pod was touched at any time, as the server's record has it. */
async function assertUntouched(node: RealNode, name: PodName): Promise<void> {
  const all = { spec: OWN, quotas: [OWN, OWN], weights: [OWN, OWN] };
  assert.deepEqual(await valuesOf(node, name), all);
  const { metadata } = objectOf(await node.find(podPath(name)));
  assert.equal(await node.allocation(name.namespace, String(objectOf(metadata).uid)), undefined);
  const managers = listOf(objectOf(metadata).managedFields).map((one) => objectOf(one).manager);
  assert.ok(managers.length > 0 && managers.every((manager) => !/mbcas/.test(String(manager))));
}

const guaranteed = onNode(async (node, namespace) => {
  const [web, still] = [namespace.pod("web"), namespace.pod("still")];
  const [born] = await Promise.all([
    guaranteedPod(node, web, { "mbcas.io/skip-guaranteed": "false" }),
    guaranteedPod(node, still),
  ]);
  const raised = await whenAll(node, web, (spec) => spec > 2 * OWN);
  assert.ok(raised <= 8 * OWN, `${raised}`);
  await assertUntouched(node, still);
  const { status } = await node.allocation(web.namespace, born.metadata.uid) ?? {};
  assert.deepEqual(status?.originalRequests, [{ name: "load", cpu: `${OWN}m` }]);

  const annotations = { "mbcas.io/skip-guaranteed": null };
  await node.merge(podPath(web), { metadata: { annotations } });
  await whenAll(node, web, (spec) => spec === OWN);
  for (let i = 0; i < 30; i++) {
    await pause(100);
    assert.equal((await valuesOf(node, web)).spec, OWN);
  }
  const raw = objectOf(await node.find(podPath(web)));
  const [container] = listOf(objectOf(raw.status).containerStatuses).map(objectOf);
  assert.deepEqual([objectOf(raw.metadata).uid, numberOf(container?.restartCount)], [
    born.metadata.uid,
    0,
  ]);
  await assertUntouched(node, still);
  const failed = { namespace: namespace.name, reason: "CPULimitFailed" };
  assert.deepEqual(await eventTexts(node, failed), []);
});

const READY_FILE = "/tmp/ready";
const LOAD: LoadContainer = { name: "load", request: "10m", limit: "200m" };
const UNREADY: LoadContainer = { ...LOAD, readyFile: READY_FILE };

/** A Deployment's first pod, ready, beside one of a rollout that is not. */
async function rollingPods(node: RealNode, workload: PodName): Promise<readonly Pod[]> {
  const { namespace, name } = workload;
  await node.deploy(loadDeployment({ ...workload, containers: [UNREADY] }));
  const [first] = await until("running pod of the Deployment", async () => {
    const pods = await deploymentPods(node, workload);
    return pods[0]?.phase === "Running" ? pods : undefined;
  }, SETTLED);
  const touch = ["--", "touch", READY_FILE];
  await kubectl.must(["exec", "-n", namespace, first?.metadata.name ?? "", ...touch]);
  await readyPod(node, workload);
  await kubectl.must(["rollout", "restart", "-n", namespace, `deployment/${name}`]);
  return await until("second pod", async () => {
    const pods = await deploymentPods(node, workload);
    return pods.length === 2 ? pods : undefined;
  }, SETTLED);
}

const inTrouble = onNode(async (node, namespace) => {
  const other = { name: "other" };
  const assertHeld = async (name: PodName, reason: BoundReason): Promise<void> => {
    assert.equal((await boundBy(node, name, reason)).held, "lower");
  };
  const make = async (name: string, ...containers: readonly LoadContainer[]): Promise<PodName> => {
    const pod = loadPod({ ...namespace.pod(name), containers });
    await node.create(`/api/v1/namespaces/${namespace.name}/pods`, pod);
    return namespace.pod(name);
  };
  const unready = await make("unready", UNREADY);
  const crashing = await make("crashing", LOAD, { ...other, crashes: true });
  const restarted = namespace.pod("restarted");
  await node.run(loadPod({ ...restarted, containers: [LOAD, other] }));
  // The command may end with the container before it can answer.
  await node.signal(restarted, "other", "TERM").catch(() => {});
  const rolling = await rollingPods(node, namespace.pod("rolling"));
  await Promise.all([
    assertHeld(unready, "PodNotReady"),
    assertHeld(crashing, "CrashLoopBackOff"),
    assertHeld(restarted, "RecentRestart"),
    ...rolling.map(({ metadata }) => assertHeld(metadata, "RolloutInProgress")),
  ]);
  assert.match(
    await whenReported(node, { ...restarted, reason: "CPULimitBounded" }, SETTLED),
    /RecentRestart: other\b.*\b5 min\b/,
  );
  const { stdout } = await coalloc("explain", "unready", "-n", namespace.name);
  assert.match(stdout, /^ +PodNotReady: /m);
});

const QUOTA_OWN = 40;
const REPLICAS = 3;
/** Room for raises of 60 m, and for one more pod. */
const MOST = REPLICAS * QUOTA_OWN + 60;
const HARD = MOST + QUOTA_OWN;

/** Millicores of limits in the namespace: the larger of the pods' specs and the quota's own count. */
async function used(node: RealNode, web: PodName): Promise<number> {
  const [quota] = await node.items(`/api/v1/namespaces/${web.namespace}/resourcequotas`);
  const pods = await deploymentPods(node, web);
  const sum = pods.reduce((sum, { containers }) => sum + (containers[0]?.limits.cpu ?? 0), 0);
  return Math.max(sum, parseResourceQuota(quota).bounds["limits.cpu"]?.used ?? 0);
}

const withinQuota = onNode(async (node, namespace) => {
  await node.create(`/api/v1/namespaces/${namespace.name}/resourcequotas`, {
    metadata: { name: "limits" },
    spec: { hard: { "limits.cpu": `${HARD}m` } },
  });
  const web = namespace.pod("web");
  const containers = [{ name: "load", request: "10m", limit: `${QUOTA_OWN}m`, busy: true }];
  await node.deploy(loadDeployment({ ...web, containers }, REPLICAS));
  await until("raises within the quota", async () => {
    const now = await used(node, web);
    // Each pod's part is cut to the grid of 10 m.
    if (now > MOST - 10 * REPLICAS) return true;
    throw new Error(`the limits are ${now} m`);
  }, { timeoutMs: 120_000 });
  for (let i = 0; i < 30; i++) {
    const now = await used(node, web);
    assert.ok(now <= MOST, `limits of ${now} m leave no room`);
    await pause(100);
  }
  const where = ["-n", namespace.name, "deployment/web"];
  await kubectl.must(["rollout", "restart", ...where]);
  await until(
    "first new pod",
    async () => (await deploymentPods(node, web)).length > REPLICAS || undefined,
    { everyMs: 50 },
  );
  const refused = { namespace: namespace.name, reason: "FailedCreate" };
  assert.deepEqual(await eventTexts(node, refused), []);
  await kubectl.must(["rollout", "status", ...where, "--timeout=120s"]);
});

testsAtOnce({
  "a Guaranteed pod that asks for it is raised, request and limit together, and one that doesn't is never touched":
    guaranteed,
  "pods that a kubelet or a Deployment's controller reports in trouble are not lowered, each for its reason":
    inTrouble,
  "a rollout finds room in a quota that raises have filled, and ends": withinQuota,
});
