/**
 * Limits that follow demand, on a real kernel and under a real HPA: they come down when a load ends, and
 * do not cap what an HPA looks at.
 */
import assert from "node:assert/strict";
import { listOf, numberOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import {
  appliedAllocation,
  assertAgreement,
  boundBy,
  boundsOf,
  deploymentPods,
  quotaOf,
  whenQuota,
} from "./scene/limits.ts";
import {
  autoscalerOf,
  autoscalersPath,
  ballast,
  type LoadContainer,
  loadDeployment,
  loadPod,
} from "./scene/load_pod.ts";
import { cpuAccount, enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { withFileSettings } from "./scene/product.ts";
import { onNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

withFileSettings({ market: { idleCPU: "tight", burstFactor: 4 } });

Deno.test(
  "the market raises a throttled container, and lowers it when its own usage has fallen",
  onNode(async (node, namespace) => {
    const name = namespace.pod("one");
    const one = await node.run(loadPod({
      ...name,
      containers: [{ name: "load", request: "50m", limit: "250m", threads: 2, burstSeconds: 25 }],
    }));
    await appliedAllocation(node, one);
    const directories = podDirectories(one);
    const { throttledMs } = cpuAccount(directories);
    await node.signal(name, "load");
    await whenQuota(node, name, (quota) => quota >= 800, { timeoutMs: 25_000 });
    assert.ok(cpuAccount(directories).throttledMs > throttledMs, "it was throttled before");
    // In steps, each after half a minute of lower demand.
    await whenQuota(node, name, (quota) => quota <= 600);
    for (let i = 0; i < 50; i++) {
      const quota = enforcedLimits(directories).containers.get("load") ?? NaN;
      assert.ok(quota <= 600, `it rose again to ${quota} m`);
      await pause(100);
    }
    await assertAgreement(node, name);
  }),
);

/**
 * The HPAs aim at 110 m a pod: 1.2 times that is a floor of 132 m, and so of 140 m on the grid. Every
 * pod may keep less than they aim at.
 */
const REQUEST = 55;
const PERCENT = 200;
const OWN = 150;
const FLOOR = 140;
const LEAST = 100;
const AIM = REQUEST * PERCENT / 100;
/** An HPA leaves differences of a tenth alone. */
const SEEN = 1.1 * AIM;
/** More than this is the load's use, even on a machine that has other work. */
const BUSY = AIM / 2;
const LOAD: LoadContainer = {
  name: "load",
  request: `${REQUEST}m`,
  limit: `${OWN}m`,
  burstSeconds: 240,
};
/** With its floor alone the market is short of CPU. */
const HOG: LoadContainer = { name: "load", request: "200m", limit: "400m", busy: true };
const LEAVES = 420;
/** More than the load asks for: what is wanted is not cut. */
const MOST_REPLICAS = 5;

const MARKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  heeding: {},
  deaf: { "mbcas.io/hpa-coordination": "false" },
  outside: { "mbcas.io/managed": "false" },
};
const NAMES = Object.keys(MARKS);

/** The only pod of a Deployment, while it is the only one. */
function firstPod(node: RealNode, name: PodName): Promise<PodName> {
  return until(`pod of ${name.name}`, async () => {
    const [pod, ...others] = await deploymentPods(node, name);
    assert.deepEqual(others, []);
    return pod?.ready ? pod.metadata : undefined;
  }, { timeoutMs: 60_000 });
}

/** The use that an HPA has seen and the replicas that it wants, from one status. */
interface ScaleRequest {
  readonly replicas: number;
  /** Mean use of a pod, millicores; absent before there are metrics. */
  readonly use: number | undefined;
}

async function requestOf({ find }: RealNode, { namespace, name }: PodName): Promise<ScaleRequest> {
  const { status } = objectOf(await find(`${autoscalersPath(namespace)}/${name}`));
  const { desiredReplicas, currentMetrics } = objectOf(status);
  const [metric] = listOf(currentMetrics);
  const { current } = objectOf(objectOf(metric).resource);
  const percent = numberOf(objectOf(current).averageUtilization);
  return {
    replicas: numberOf(desiredReplicas) ?? 0,
    use: percent === undefined ? undefined : REQUEST * percent / 100,
  };
}

// The same load on a node that is short of CPU, each under an HPA of its own with a target that lies
// near their limit.
Deno.test(
  "an HPA scales pods of the market as it scales others, and not those with a limit that caps its signal",
  onNode(async (node, namespace) => {
    await ballast(node, { namespace: namespace.name, leaves: LEAVES });
    await node.run(loadPod({ ...namespace.pod("hog"), containers: [HOG] }));
    const pods = await Promise.all(
      Object.entries(MARKS).map(async ([name, annotations]) => {
        const workload = namespace.pod(name);
        await node.deploy(loadDeployment({ ...workload, containers: [LOAD], annotations }));
        const autoscaler = autoscalerOf(name, PERCENT, { most: MOST_REPLICAS });
        await node.create(autoscalersPath(namespace.name), autoscaler);
        return await firstPod(node, workload);
      }),
    );
    const [heeding, deaf] = pods;
    assert.ok(heeding !== undefined && deaf !== undefined);
    await boundBy(node, heeding, "HPAFloor");
    assert.ok(!(await boundsOf(node, deaf))?.reason.includes("HPA"));
    await whenQuota(node, deaf, (quota) => quota === LEAST);
    assert.ok(await quotaOf(node, heeding) >= FLOOR);
    await Promise.all(pods.map((pod) => node.signal(pod, "load")));

    const most: Record<string, number> = {};
    let capped = 0;
    await until("HPAs that have seen the load", async () => {
      capped = Math.max(capped, await quotaOf(node, deaf));
      const seen = await Promise.all(
        NAMES.map(async (name) => [name, await requestOf(node, namespace.pod(name))] as const),
      );
      for (const [name, { replicas }] of seen) most[name] = Math.max(most[name] ?? 0, replicas);
      const requests = Object.fromEntries(seen);
      const scaled = [requests["heeding"], requests["outside"]].every((request) =>
        (request?.replicas ?? 0) > 1
      );
      if (scaled && (requests["deaf"]?.use ?? 0) > BUSY) return true;
      throw new Error(JSON.stringify(requests));
    }, { timeoutMs: 180_000, everyMs: 1000 });
    assert.ok(capped < SEEN, `the limit that should cap the signal was ${capped} m`);
    assert.deepEqual(most, { heeding: 2, deaf: 1, outside: 2 });
    assert.equal((await boundBy(node, heeding, "HPAScaled")).held, "lower");
  }),
);
