/**
 * The market beside the HorizontalPodAutoscaler: limits stay above what it looks at, go down by half
 * steps, and not at all while it has just scaled; what it does is what it does without the market.
 * All Deployments are on the node at once.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseHorizontalPodAutoscaler } from "../../adapters/kube/horizontal_pod_autoscalers.ts";
import { HPA_COORDINATION } from "../../shared/actuation/hpa_coordination.ts";
import { crowd } from "./scene/crowd.ts";
import { deploymentPods } from "./scene/deployment_pods.ts";
import { eventTexts } from "./scene/event_texts.ts";
import { boundBy, boundsOf, quotaOf, whenQuota } from "./scene/limits.ts";
import { type LoadContainer, loadDeployment, type LoadPod } from "./scene/load_pod.ts";
import { openRealNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { sharedNamespace } from "./scene/shared_namespace.ts";
import { pause, until } from "./scene/until.ts";

/** Own limit of the idle ones, m, and the floor that their HPA's aim of 250 m makes. */
const OWN = 400;
const FLOOR = 300;
const IDLE: LoadContainer = { name: "load", request: "100m", limit: `${OWN}m` };
/** Uses some 30 m, many times what its HPA aims at: it is scaled to two. */
const BEATING: LoadContainer = {
  name: "load",
  request: "20m",
  limit: "200m",
  beat: { count: 1000, sleepMs: 100 },
};
const WINDOW_S = 45;
const HPAS = (namespace: string): string =>
  `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;

interface Scaled extends Pick<LoadPod, "annotations" | "labels"> {
  readonly container: LoadContainer;
  /** Wanted use in percent of the request; without it there is no HPA. */
  readonly percent?: number;
  /** Of the Deployment itself. */
  readonly words?: Readonly<Record<string, string>>;
}

const OFF = { [HPA_COORDINATION]: "false" };
const DEPLOYMENTS: Readonly<Record<string, Scaled>> = {
  free: { container: IDLE },
  scaled: { container: IDLE, percent: 250 },
  apart: { container: IDLE, percent: 250, words: OFF },
  capped: { container: IDLE, percent: 500, annotations: { "mbcas.io/max-cpu": `${OWN}m` } },
  beating: { container: BEATING, percent: 50 },
  loose: { container: BEATING, percent: 50, words: OFF },
  plain: { container: BEATING, percent: 50, labels: { "mbcas.io/managed": "false" } },
};

function autoscaler(name: string, percent: number): Record<string, unknown> {
  const target = { type: "Utilization", averageUtilization: percent };
  return {
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 2,
      metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
      behavior: { scaleDown: { stabilizationWindowSeconds: WINDOW_S } },
    },
  };
}

const shared = sharedNamespace(async (node, { name: namespace }) => {
  await crowd(node, namespace);
  await Promise.all(
    Object.entries(DEPLOYMENTS).map(async ([name, { container, percent, words, ...pod }]) => {
      const deployment = loadDeployment({ name, namespace, containers: [container], ...pod });
      const metadata = { name, namespace, annotations: words ?? {} };
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
      await node.create(path, { ...deployment, metadata });
      if (percent !== undefined) await node.create(HPAS(namespace), autoscaler(name, percent));
    }),
  );
});

/** The Deployment's pods, the oldest first, once there are so many that run. */
function podsOf(node: RealNode, name: string, count = 1): Promise<readonly PodName[]> {
  return until(`${count} pods of ${name}`, async () => {
    const pods = await deploymentPods(node, shared.pod(name));
    const running = pods.filter(({ ready }) => ready);
    return running.length >= count
      ? running.map(({ metadata }) => shared.pod(metadata.name))
      : undefined;
  }, { timeoutMs: 240_000, everyMs: 250 });
}

async function firstPod(node: RealNode, name: string): Promise<PodName> {
  const [first] = await podsOf(node, name);
  return first ?? assert.fail(name);
}

Deno.test("under an HPA limits go down by half steps, and not below 1.2 times what it aims at", async () => {
  using node = await openRealNode();
  const [scaled, free] = await Promise.all(["scaled", "free"].map((name) => firstPod(node, name)));
  assert.ok(scaled !== undefined && free !== undefined);
  const bounds = await boundBy(node, scaled, "HPAFloor");
  assert.deepEqual([bounds.floor, bounds.held], [FLOOR, "half"]);
  assert.equal((await boundsOf(node, free))?.reason, "BurstFactor");
  const [half, whole] = await Promise.all(
    [scaled, free].map((name) => whenQuota(node, name, (quota) => quota < OWN)),
  );
  // Half of the way to the floor, on the grid; without an HPA it is all of the way.
  assert.equal(half, OWN - (OWN - FLOOR) / 2);
  assert.ok(whole !== undefined && whole < FLOOR, `${whole}`);
  const workload = { ...scaled, name: "scaled" };
  const [told] = await eventTexts(node, { ...workload, reason: "CPULimitBounded" });
  assert.match(told ?? "", /HPAFloor: load at least 300m: 1\.2 × 250m.*HPADamped: HPA scaled/);
});

Deno.test("an HPA is left alone where the workload says so (mbcas.io/hpa-coordination)", async () => {
  using node = await openRealNode();
  const apart = await firstPod(node, "apart");
  assert.equal((await boundsOf(node, apart))?.reason, "BurstFactor");
  await whenQuota(node, apart, (quota) => quota < FLOOR);
});

Deno.test("an HPA's aim above the ceiling is told (HPACapped)", async () => {
  using node = await openRealNode();
  const capped = await firstPod(node, "capped");
  const { floor, ceiling } = await boundBy(node, capped, "HPACapped");
  assert.deepEqual([floor, ceiling], [OWN, OWN]);
  const rules = (await boundsOf(node, capped))?.rules ?? [];
  assert.deepEqual(
    rules.find(({ reason }) => reason === "HPACapped")?.message,
    [
      "load can't have the 600m that the HPA's signal needs: its ceiling is 400m",
    ].join(),
  );
});

Deno.test("an HPA scales pods of the market as it scales others", async () => {
  using node = await openRealNode();
  const replicas = await Promise.all(
    ["beating", "loose", "plain"].map(async (name) => (await podsOf(node, name, 2)).length),
  );
  assert.deepEqual(replicas, [2, 2, 2]);
});

Deno.test("no limit is lowered for one stabilization window after an HPA has scaled, and then it is", async () => {
  using node = await openRealNode();
  const [held, loose] = await Promise.all(
    ["beating", "loose"].map(async (name) => (await podsOf(node, name, 2))[1]),
  );
  assert.ok(held !== undefined && loose !== undefined);
  assert.equal((await boundBy(node, held, "HPAScaled")).held, "lower");
  await whenQuota(node, loose, (quota) => quota < 200);

  const path = `${HPAS(shared.name)}/beating`;
  const { lastScaleMs = 0, stabilizationMs } = parseHorizontalPodAutoscaler(
    await node.connection.request({ path }),
  );
  assert.equal(stabilizationMs, 1000 * WINDOW_S);
  let seen = 0;
  while (Date.now() < lastScaleMs + stabilizationMs - 1000) {
    assert.ok(await quotaOf(node, held) >= 200, "the window is not over");
    seen++;
    await pause(250);
  }
  assert.ok(seen > 0, "the window was over before it was looked at");
  await whenQuota(node, held, (quota) => quota < 200);
  assert.ok(!(await boundsOf(node, held))?.reason.includes("HPAScaled"));
});
