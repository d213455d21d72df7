/**
 * Pods in trouble keep their limits, where a pod that is well is lowered beside them: one that is not
 * Ready, was restarted of late, crashes again and again, rolls out, or is critical for the system.
 * Under an HPA limits stay above what it looks at, go down by half steps, and not at all while it has
 * just scaled. The HPA's side is in `hpa_signal_test.ts`.
 *
 * All of them are on the node at once, and before the first test the healthy one was lowered: there is
 * a pod that takes what the others would give.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseHorizontalPodAutoscaler } from "../../adapters/kube/kinds/autoscalers.ts";
import { HPA_COORDINATION } from "../../shared/api/market_keys.ts";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import { createKubectl } from "./kubectl.ts";
import {
  boundBy,
  boundsOf,
  crowd,
  deploymentPods,
  quotaOf,
  readyPod,
  SETTLED,
  thePod,
  whenQuota,
} from "./scene/limits.ts";
import { assertReported, assertUnreported, eventTexts } from "./scene/reported.ts";
import {
  autoscalerOf,
  autoscalersPath,
  type LoadContainer,
  loadDeployment,
  loadPod,
} from "./scene/load_pod.ts";
import { openRealNode, type PodName, type RealNode, sharedNamespace } from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { withTightLimits } from "./scene/product.ts";

const OWN = 200;
const READY_FILE = "/tmp/ready";
const LOAD: LoadContainer = { name: "load", request: "10m", limit: `${OWN}m` };
/** Its HPA aims at 250 m, which makes a floor of 300 m. */
const SCALED: LoadContainer = { name: "load", request: "100m", limit: "400m" };
const SCALED_FLOOR = 300;
/** Uses some 30 m, many times what its HPA aims at: it is scaled to two. */
const BEATING: LoadContainer = {
  name: "load",
  request: "20m",
  limit: `${OWN}m`,
  beat: { count: 1000, sleepMs: 100 },
};
/** The stabilization window of their HPAs. */
const WINDOW_S = 45;
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
  for (
    const [name, container, annotations] of [
      ["rolling", { ...LOAD, readyFile: READY_FILE }, {}],
      ["beating", BEATING, {}],
      ["loose", BEATING, { [HPA_COORDINATION]: "false" }],
    ] as const
  ) {
    const deployment = loadDeployment({ name, namespace, containers: [container] });
    await node.deploy({ ...deployment, metadata: { name, namespace, annotations } });
  }
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

/** The Deployment's oldest pod, once it is Ready. */
async function firstPod(node: RealNode, name: string): Promise<PodName> {
  return (await readyPod(node, pod(name), { timeoutMs: 240_000 })).metadata;
}

/** The Deployment's second pod, once it is Ready. */
function secondPod(node: RealNode, name: string): Promise<PodName> {
  return until(`second pod of ${name}`, async () => {
    const [, second] = await deploymentPods(node, pod(name));
    return second?.ready ? second.metadata : undefined;
  }, { timeoutMs: 240_000, everyMs: 250 });
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
    await assertUnreported(name, "PodNotReady");
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
      await assertUnreported(old, "RolloutInProgress");
    },
  "under an HPA limits go down by half steps, and not below 1.2 times what it aims at":
    async () => {
      using node = await openRealNode();
      const own = 400;
      for (const name of ["scaled", "free"]) {
        await node.deploy(loadDeployment({ ...pod(name), containers: [SCALED] }));
      }
      await node.create(autoscalersPath(shared.name), autoscalerOf("scaled", 250));
      const [scaled, free] = await Promise.all([firstPod(node, "scaled"), firstPod(node, "free")]);
      const bounds = await boundBy(node, scaled, "HPAFloor");
      assert.deepEqual([bounds.floor, bounds.held], [SCALED_FLOOR, "half"]);
      const [half, whole = NaN] = await Promise.all(
        [scaled, free].map((name) => whenQuota(node, name, (quota) => quota < own)),
      );
      // Half of the way to the floor, on the grid; without an HPA it is all of the way.
      assert.equal(half, own - (own - SCALED_FLOOR) / 2);
      assert.ok(whole < SCALED_FLOOR, `${whole}`);
      const [reported] = await eventTexts(node, { ...pod("scaled"), reason: "CPULimitBounded" });
      assert.match(
        reported ?? "",
        /HPAFloor: load\b.*\b300m: 1\.2 × 250m.*HPADamped: .*\bscaled\b/,
      );
    },
  "no limit is lowered for one stabilization window after an HPA has scaled, and then it is":
    async () => {
      using node = await openRealNode();
      const behavior = { scaleDown: { stabilizationWindowSeconds: WINDOW_S } };
      const secondOf = async (name: string): Promise<PodName> => {
        await firstPod(node, name);
        await node.create(autoscalersPath(shared.name), autoscalerOf(name, 50, { behavior }));
        return await secondPod(node, name);
      };
      const [held, loose] = await Promise.all([secondOf("beating"), secondOf("loose")]);
      assert.equal((await boundBy(node, held, "HPAScaled")).held, "lower");
      await whenQuota(node, loose, (quota) => quota < OWN);

      const path = `${autoscalersPath(shared.name)}/beating`;
      const { lastScaleMs = 0, stabilizationMs } = parseHorizontalPodAutoscaler(
        await node.connection.request({ path }),
      );
      assert.equal(stabilizationMs, 1000 * WINDOW_S);
      let seen = 0;
      while (Date.now() < lastScaleMs + stabilizationMs - 1000) {
        assert.ok(await quotaOf(node, held) >= OWN, "the window is not over");
        seen++;
        await pause(250);
      }
      assert.ok(seen > 0, "the window was over before it was looked at");
      await whenQuota(node, held, (quota) => quota < OWN);
      assert.ok(!(await boundsOf(node, held))?.reason.includes("HPAScaled"));
    },
});
