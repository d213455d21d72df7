/**
 * The market beside the HorizontalPodAutoscaler: limits stay above what it looks at, go down by half
 * steps, and not at all while it has just scaled, whatever form its target has. What the HPA makes of
 * it: `hpa_signal_test.ts`. All Deployments are on the node at once.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseHorizontalPodAutoscaler } from "../../adapters/kube/kinds/autoscalers.ts";
import { HPA_COORDINATION } from "../../shared/api/market_keys.ts";
import { boundBy, boundsOf, crowd, deploymentPods, quotaOf, whenQuota } from "./scene/limits.ts";
import { eventTexts } from "./scene/reported.ts";
import {
  autoscalerOf,
  autoscalersPath,
  type LoadContainer,
  loadDeployment,
  type LoadPod,
} from "./scene/load_pod.ts";
import { openRealNode, type PodName, type RealNode, sharedNamespace } from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { withTightLimits } from "./scene/product.ts";

/** Original limit of the idle ones, m, and the floor that their HPA's aim of 250 m makes. */
const OWN = 400;
const FLOOR = 300;
const IDLE: LoadContainer = { name: "load", request: "100m", limit: `${OWN}m` };
/** A second container of one of them: 250 % of its request would make a floor, too. */
const SIDE: LoadContainer = { name: "side", request: "60m", limit: "200m" };
/** Uses some 30 m, many times what its HPA aims at: it is scaled to two. */
const BEATING: LoadContainer = {
  name: "load",
  request: "20m",
  limit: "200m",
  beat: { count: 1000, sleepMs: 100 },
};
const WINDOW_S = 45;

type Texts = Readonly<Record<string, string>>;

interface Scaled extends Pick<LoadPod, "annotations"> {
  readonly container: LoadContainer;
  readonly side?: LoadContainer;
  /** What its HPA aims at; without it there is no HPA. */
  readonly metric?: Parameters<typeof autoscalerOf>[1];
  /** True where the HPA is made by its test: what it does is over soon. */
  readonly later?: true;
  /** Of the Deployment itself. */
  readonly deploymentAnnotations?: Texts;
  /** Of the HPA. */
  readonly hpaValues?: Texts;
}

const OF_CONTAINER = {
  type: "ContainerResource",
  containerResource: {
    name: "cpu",
    container: "load",
    target: { type: "Utilization", averageUtilization: 250 },
  },
};
const OF_VALUE = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "AverageValue", averageValue: "250m" } },
};
const OFF = { [HPA_COORDINATION]: "false" };
const DEPLOYMENTS: Readonly<Record<string, Scaled>> = {
  free: { container: IDLE },
  scaled: { container: IDLE, metric: 250 },
  single: { container: IDLE, side: SIDE, metric: OF_CONTAINER },
  valued: { container: IDLE, metric: OF_VALUE },
  apart: { container: IDLE, metric: 250, deploymentAnnotations: OFF },
  silent: { container: IDLE, metric: 250, annotations: OFF },
  mute: { container: IDLE, metric: 250, hpaValues: OFF },
  capped: { container: IDLE, metric: 500, annotations: { "mbcas.io/max-cpu": `${OWN}m` } },
  beating: { container: BEATING, metric: 50, later: true },
  loose: { container: BEATING, metric: 50, deploymentAnnotations: OFF, later: true },
};

function autoscaler(name: string, { metric = 0, hpaValues = {} }: Scaled): Record<string, unknown> {
  const behavior = { scaleDown: { stabilizationWindowSeconds: WINDOW_S } };
  return autoscalerOf(name, metric, { annotations: hpaValues, behavior });
}

withTightLimits();

const shared = sharedNamespace(async (node, { name: namespace }) => {
  await crowd(node, namespace);
  await Promise.all(
    Object.entries(DEPLOYMENTS).map(async ([name, scaled]) => {
      const { container, side, annotations } = scaled;
      const containers = side === undefined ? [container] : [container, side];
      const pod = { name, namespace, containers };
      const deployment = loadDeployment({ ...pod, annotations: annotations ?? {} });
      const metadata = { name, namespace, annotations: scaled.deploymentAnnotations ?? {} };
      await node.deploy({ ...deployment, metadata });
      if (scaled.metric === undefined || scaled.later) return;
      await node.create(autoscalersPath(namespace), autoscaler(name, scaled));
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

testsAtOnce({
  "under an HPA limits go down by half steps, and not below 1.2 times what it aims at":
    async () => {
      using node = await openRealNode();
      const [scaled, free] = await Promise.all(
        ["scaled", "free"].map((name) => firstPod(node, name)),
      );
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
      const [reported] = await eventTexts(node, { ...workload, reason: "CPULimitBounded" });
      assert.match(
        reported ?? "",
        /HPAFloor: load\b.*\b300m: 1\.2 × 250m.*HPADamped: .*\bscaled\b/,
      );
    },
  "an HPA on one container binds that one, and an averageValue binds as a percentage does":
    async () => {
      using node = await openRealNode();
      const [single, valued] = await Promise.all(
        ["single", "valued"].map((name) => firstPod(node, name)),
      );
      assert.ok(single !== undefined && valued !== undefined);
      for (const pod of [single, valued]) {
        const { floor, held } = await boundBy(node, pod, "HPAFloor");
        assert.deepEqual([floor, held], [FLOOR, "half"]);
      }
      const side = (await boundsOf(node, single))?.containers.find(({ name }) => name === "side");
      // As without an HPA: 250 % of its request would make 180.
      assert.equal(side?.floor, 100);
      await Promise.all(
        [single, valued].map((pod) => whenQuota(node, pod, (quota) => quota <= FLOOR + 50)),
      );
      for (const pod of [single, valued]) assert.ok(await quotaOf(node, pod) >= FLOOR);
    },
  "an HPA is left alone where pod, workload or HPA says so (mbcas.io/hpa-coordination)":
    async () => {
      using node = await openRealNode();
      const pods = await Promise.all(
        ["apart", "silent", "mute"].map((name) => firstPod(node, name)),
      );
      await Promise.all(pods.map((pod) => whenQuota(node, pod, (quota) => quota < FLOOR)));
      for (const pod of pods) assert.equal((await boundsOf(node, pod))?.reason, "BurstFactor");
    },
  "an HPA's aim above the ceiling is reported (HPACapped)": async () => {
    using node = await openRealNode();
    const capped = await firstPod(node, "capped");
    const { floor, ceiling } = await boundBy(node, capped, "HPACapped");
    assert.deepEqual([floor, ceiling], [OWN, OWN]);
    const rules = (await boundsOf(node, capped))?.rules ?? [];
    const { message = "" } = rules.find(({ reason }) => reason === "HPACapped") ?? {};
    assert.match(message, /^load\b.*\b600m\b.*\b400m$/);
  },
  "no limit is lowered for one stabilization window after an HPA has scaled, and then it is":
    async () => {
      using node = await openRealNode();
      const [held, loose] = await Promise.all(["beating", "loose"].map(async (name) => {
        await firstPod(node, name);
        await node.create(
          autoscalersPath(shared.name),
          autoscaler(name, DEPLOYMENTS[name] ?? assert.fail(name)),
        );
        return (await podsOf(node, name, 2))[1];
      }));
      assert.ok(held !== undefined && loose !== undefined);
      assert.equal((await boundBy(node, held, "HPAScaled")).held, "lower");
      await whenQuota(node, loose, (quota) => quota < 200);

      const path = `${autoscalersPath(shared.name)}/beating`;
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
    },
});
