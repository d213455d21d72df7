/**
 * PriorityClasses weigh in the market: of a busy node's CPU those of higher priority get more.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { ballast, type LoadContainer, loadPod } from "./scene/load_pod.ts";
import { boundsOf, SETTLED, thePod } from "./scene/limits.ts";
import { productMetrics, withLiveSettings, withTightLimits } from "./scene/product.ts";
import { openRealNode, type PodName, type RealNode, sharedNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

/** Their weights are 1, 1.5 and 2 times the request. */
const PRIORITIES = { plain: undefined, silver: 2000, gold: 4000 } as const;
type Rank = keyof typeof PRIORITIES;
/** Far below and far above: idle pods, of which only the weights are looked at. */
const EXTREMES = { low: -1, top: 1_000_000_000 } as const;
const RANKS: readonly Rank[] = ["plain", "silver", "gold"];
const BUSY: LoadContainer = { name: "load", request: "10m", limit: "20m", threads: 2, busy: true };
/** More than a pod has before anything is divided, millicores. */
const SOME_SHARE = 40;
const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

/** Such pods may have all of the node: that is what they are to divide. */
withTightLimits();

const shared = sharedNamespace(async (node, { name: namespace }) => {
  await ballast(node, { namespace, leaves: 450 });
  for (const [name, value] of Object.entries(EXTREMES)) {
    const priorityClassName = `${namespace}-${name}`;
    await createClass(node, { name: priorityClassName, value, namespace });
    const containers = [{ name: "load", request: "10m", limit: "20m" }];
    await node.run(loadPod({ name, namespace, containers, priorityClassName }));
  }
  for (const rank of RANKS) {
    const value = PRIORITIES[rank];
    const name = `${namespace}-${rank}`;
    if (value !== undefined) await createClass(node, { name, value, namespace });
    const priorityClassName = value === undefined ? {} : { priorityClassName: name };
    const containers = [BUSY];
    await node.run(loadPod({ name: rank, namespace, containers, ...priorityClassName }));
  }
}, { labels: { "mbcas.io/burst-factor": "50" } });

/**
 * Makes a PriorityClass and waits until the API server admits pods of it: its admission plugin reads
 * the classes from a cache, which is late for some milliseconds.
 */
async function createClass(
  node: RealNode,
  { name, value, namespace }: {
    readonly name: string;
    readonly value: number;
    readonly namespace: string;
  },
): Promise<void> {
  await node.create(CLASSES, { metadata: { name }, value });
  const containers = [{ name: "load", request: "10m", limit: "20m" }];
  const pod = loadPod({ name: "admitted", namespace, containers, priorityClassName: name });
  await until("PriorityClass in the API server's cache", async () => {
    await node.create(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
    return true;
  });
}

Deno.test.afterAll(async () => {
  using node = await openRealNode();
  for (const rank of ["silver", "gold", ...Object.keys(EXTREMES)]) {
    const path = `${CLASSES}/${shared.name}-${rank}`;
    await node.remove(path).catch((error) => {
      // The fixture may have failed before it made this class.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    });
  }
});

/** A pod's limit and what it weighs. */
interface Stake {
  readonly limit: number;
  readonly weight: number;
  readonly credit: number;
}

async function stakeOf(node: RealNode, name: PodName): Promise<Stake> {
  const { metadata, containers } = await thePod(node, name);
  const { spec, status } = await node.allocation(name.namespace, metadata.uid) ?? {};
  return {
    limit: containers[0]?.limits.cpu ?? 0,
    weight: status?.bounds?.containers[0]?.weight ?? 0,
    credit: spec?.market?.credit ?? assert.fail("no clearing yet"),
  };
}

/** Waits until the limits are in proportion to these weights, within a step and a tenth. */
async function assertShares(
  node: RealNode,
  multipliers: Readonly<Record<Rank, number>>,
): Promise<void> {
  await until("shares by weight", async () => {
    // What an allocation says of the clearing is as old as its last change.
    const metrics = await productMetrics(node, "mbcas-agent");
    assert.equal(metrics.get('mbcas_node_mode{mode="congested"}'), 1, "the node is short of CPU");
    const stakes = await Promise.all(RANKS.map((rank) => stakeOf(node, shared.pod(rank))));
    assert.deepEqual(
      stakes.map(({ weight }) => weight),
      RANKS.map((rank) => 10 * multipliers[rank]),
    );
    const perWeight = stakes.map(({ limit, weight, credit }) => limit / (weight * credit));
    const mean = perWeight.reduce((sum, one) => sum + one, 0) / perWeight.length;
    for (const [index, { limit, weight, credit }] of stakes.entries()) {
      assert.ok(limit > SOME_SHARE, `${RANKS[index]} has ${limit} m: no share yet`);
      const expected = mean * weight * credit;
      const off = Math.abs(limit - expected);
      assert.ok(
        off <= 10 + expected / 10,
        `${RANKS[index]} has ${limit} m, by weight it would be ${expected.toFixed()} m`,
      );
    }
    return true;
  }, { timeoutMs: 180_000, everyMs: 250 });
}

Deno.test("pods of PriorityClasses 2000 and 4000 get 1.5 and 2 times the share of one without a class", async () => {
  using node = await openRealNode();
  for (const rank of RANKS) {
    const { priority } = await thePod(node, shared.pod(rank));
    assert.equal(priority, PRIORITIES[rank] ?? 0);
  }
  await assertShares(node, { plain: 1, silver: 1.5, gold: 2 });
});

Deno.test("pods of PriorityClasses get equal shares where their own annotation takes the multiplier back", async () => {
  using node = await openRealNode();
  for (const rank of RANKS) {
    const { namespace, name } = shared.pod(rank);
    await node.merge(`/api/v1/namespaces/${namespace}/pods/${name}`, {
      metadata: { annotations: { "mbcas.io/priority-multiplier": "1" } },
    });
  }
  await assertShares(node, { plain: 1, silver: 1, gold: 1 });
  assert.equal((await boundsOf(node, shared.pod("gold")))?.containers[0]?.weight, 10);
});

/** Waits until the weights of these pods are so many times the request. */
async function whenWeights(
  node: RealNode,
  multipliers: Readonly<Partial<Record<Rank | keyof typeof EXTREMES, number>>>,
): Promise<void> {
  await until("weights", async () => {
    for (const [name, multiplier] of Object.entries(multipliers)) {
      const bounds = await boundsOf(node, shared.pod(name));
      assert.equal(bounds?.containers[0]?.weight, 10 * multiplier, name);
    }
    return true;
  }, SETTLED);
}

Deno.test("priorities below 0 weigh half, the highest ten times, and others by the configuration's table while there is one", async () => {
  using node = await openRealNode();
  for (const [name, value] of Object.entries(EXTREMES)) {
    assert.equal((await thePod(node, shared.pod(name))).priority, value);
  }
  await whenWeights(node, { low: 0.5, top: 10 });
  {
    const priorityMultipliers = ["0:3", "2000:4"];
    await using _settings = await withLiveSettings({
      market: { idleCPU: "tight", priorityMultipliers },
    });
    // The pods' own annotation takes precedence over the table, too.
    await whenWeights(node, { low: 1, top: 4, gold: 1 });
  }
  await whenWeights(node, { low: 0.5, top: 10 });
});
