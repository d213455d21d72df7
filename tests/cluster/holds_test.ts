/**
 * Pods in trouble keep their limits, where a pod that is well is lowered beside them: one that is not
 * Ready, was restarted of late, crashes again and again, rolls out, or is critical for the system.
 * All of them are on the node at once, and before the first test the healthy one was lowered: there is
 * a pod that takes what the others would give.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import { createKubectl } from "./kubectl.ts";
import {
  boundBy,
  boundsOf,
  crowd,
  deploymentPods,
  quotaOf,
  SETTLED,
  thePod,
  whenQuota,
} from "./scene/limits.ts";
import { assertReported, assertUnreported, eventTexts } from "./scene/reported.ts";
import { type LoadContainer, loadDeployment, loadPod } from "./scene/load_pod.ts";
import { openRealNode, type PodName, type RealNode, sharedNamespace } from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { withTightLimits } from "./scene/product.ts";

const OWN = 200;
const READY_FILE = "/tmp/ready";
const LOAD: LoadContainer = { name: "load", request: "10m", limit: `${OWN}m` };
const kubectl = createKubectl();
function exec({ namespace, name }: PodName, ...command: string[]): Promise<string> {
  return kubectl.must(["exec", "-n", namespace, name, "-c", "load", "--", ...command]);
}

function running(node: RealNode, name: PodName): Promise<true> {
  return until(`running pod ${name.name}`, async () => {
    const { phase, containers } = await thePod(node, name);
    const load = containers.find((one) => one.name === "load");
    return phase === "Running" && load?.applied.limits.cpu !== undefined ? true : undefined;
  }, SETTLED);
}

/** Ends container `other` of the pod, which the kubelet then starts again. */
async function endOnce(node: RealNode, name: PodName): Promise<void> {
  // The command may end with the container before it can answer.
  await node.signal(name, "other", "TERM").catch(() => {});
  await until("restart", async () => {
    const { containers } = await thePod(node, name);
    return containers.some(({ restartedAtMs }) => restartedAtMs !== undefined) || undefined;
  }, SETTLED);
}

/** The first pod of the Deployment that rolls out. */
async function oldPod(node: RealNode): Promise<PodName> {
  const [first] = await deploymentPods(node, pod("rolling"));
  return pod(first?.metadata.name ?? assert.fail("no pod of the Deployment"));
}

withTightLimits();

const shared = sharedNamespace(async (node, { name: namespace }) => {
  const other = { name: "other" };
  const make = (name: string, more: Partial<Parameters<typeof loadPod>[0]> = {}) =>
    node.create(
      `/api/v1/namespaces/${namespace}/pods`,
      loadPod({ name, namespace, containers: [LOAD], ...more }),
    );
  await crowd(node, namespace);
  await make("healthy");
  await make("unready", { containers: [{ ...LOAD, readyFile: READY_FILE }] });
  await make("restarted", { containers: [LOAD, other] });
  await make("crashing", { containers: [LOAD, { ...other, crashes: true }] });
  await make("critical", { priorityClassName: "system-cluster-critical" });
  await node.deploy(loadDeployment({
    name: "rolling",
    namespace,
    containers: [{ ...LOAD, readyFile: READY_FILE }],
  }));
  for (const name of ["healthy", "unready", "restarted", "crashing", "critical"]) {
    await running(node, pod(name));
  }
  await endOnce(node, pod("restarted"));
  const first = await until("pod of the Deployment", () => oldPod(node).catch(() => undefined));
  await running(node, first);
  await exec(first, "touch", READY_FILE);
  const rollout = ["-n", namespace, "deployment/rolling"];
  await kubectl.must(["rollout", "status", ...rollout, "--timeout=60s"]);
  await kubectl.must(["rollout", "restart", ...rollout]);
  await until(
    "second pod",
    async () => (await deploymentPods(node, pod("rolling"))).length === 2 || undefined,
  );
  await whenQuota(node, pod("healthy"), (quota) => quota < OWN);
});

function pod(name: string): PodName {
  return shared.pod(name);
}

/**
 * Fails unless the pod keeps its original limit, is held from below for this reason, and reports so.
 */
async function assertHeld(
  node: RealNode,
  name: PodName,
  reported: { readonly bound: BoundReason; readonly event?: boolean },
): Promise<void> {
  const bounds = await boundBy(node, name, reported.bound);
  assert.equal(bounds.held, "lower");
  assert.equal(bounds.floor, 100);
  await Promise.all([assertStays(node, name), assertReported(node, name, reported)]);
}

/**
 * Fails when the pod has less than its original limit within two seconds, in which the healthy one does
 * without. It may have more: a probe that runs a command is work in the container, and on a busy
 * machine enough of it for a raise, which no hold from below forbids.
 */
async function assertStays(node: RealNode, name: PodName): Promise<void> {
  for (let i = 0; i < 8; i++) {
    const quota = await quotaOf(node, name);
    assert.ok(quota >= OWN, `${name.name} was lowered to ${quota}m`);
    assert.ok(await quotaOf(node, pod("healthy")) < OWN, "no pod takes what is given");
    await pause(250);
  }
}

testsAtOnce({
  "a Ready pod that uses little is lowered while a neighbour borrows, and its bounds say nothing special":
    async () => {
      using node = await openRealNode();
      assert.ok(await quotaOf(node, pod("healthy")) < OWN);
      assert.equal((await boundsOf(node, pod("healthy")))?.reason, "BurstFactor");
      assert.deepEqual(
        await eventTexts(node, { ...pod("healthy"), reason: "CPULimitBounded" }),
        [],
      );
    },
  "a pod that is not Ready is not lowered, and is once it is Ready": async () => {
    using node = await openRealNode();
    const name = pod("unready");
    await assertHeld(node, name, { bound: "PodNotReady" });
    await exec(name, "touch", READY_FILE);
    await whenQuota(node, name, (quota) => quota < OWN);
    assert.equal((await boundsOf(node, name))?.reason, "BurstFactor");
    await assertUnreported(node, name, "PodNotReady");
  },
  "a pod of which a container restarted is not lowered": async () => {
    using node = await openRealNode();
    const name = pod("restarted");
    assert.equal((await thePod(node, name)).ready, true, "it is Ready again");
    await assertHeld(node, name, { bound: "RecentRestart" });
    const [message] = await eventTexts(node, { ...name, reason: "CPULimitBounded" });
    assert.match(message ?? "", /RecentRestart: other\b.*\b5 min\b/);
  },
  "a pod in CrashLoopBackOff is not lowered": async () => {
    using node = await openRealNode();
    // Such a pod has always restarted of late, which was reported before; and it is not Ready.
    await assertHeld(node, pod("crashing"), { bound: "CrashLoopBackOff", event: false });
  },
  "a pod of a system-critical class is not lowered": async () => {
    using node = await openRealNode();
    const name = pod("critical");
    assert.equal((await thePod(node, name)).priorityClassName, "system-cluster-critical");
    await assertHeld(node, name, { bound: "SystemCritical" });
    const [message] = await eventTexts(node, { ...name, reason: "CPULimitBounded" });
    assert.match(message ?? "", /SystemCritical: .*\bsystem-cluster-critical\b/);
  },
  "pods of a Deployment that rolls out are not lowered, old or new, and are when it is paused":
    async () => {
      using node = await openRealNode();
      const pods = await deploymentPods(node, pod("rolling"));
      assert.deepEqual(pods.map(({ ready }) => ready), [true, false]);
      for (const { metadata } of pods) {
        await assertHeld(node, pod(metadata.name), { bound: "RolloutInProgress" });
      }
      const old = pod(pods[0]?.metadata.name ?? "");
      const workload = pod("rolling");
      const [message] = await eventTexts(node, { ...workload, reason: "CPULimitBounded" });
      assert.match(message ?? "", /RolloutInProgress: Deployment rolling\b/);

      const { namespace } = old;
      await kubectl.must(["rollout", "pause", "-n", namespace, "deployment/rolling"]);
      await whenQuota(node, old, (quota) => quota < OWN);
      assert.equal((await boundsOf(node, old))?.reason, "BurstFactor");
      await assertUnreported(node, old, "RolloutInProgress");
    },
});
