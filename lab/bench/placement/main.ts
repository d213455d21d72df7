/**
 * The cost of placement beside an API that is simulated in this process: the memory that its copies of
 * workloads and pods and what it knows of them take, and the time from a change to its decision.
 * `deno task bench:placement`, `-- --workloads 50` for a quick look.
 *
 * @module
 */
import { Command } from "commander";
import { systemClock } from "../../../adapters/system_clock.ts";
import { createCaches, namedCaches } from "../../../controller/caches.ts";
import { createPlacement } from "../../../controller/placement/placement.ts";
import { SPOT_PERCENTAGE } from "../../../shared/api/placement_keys.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import { SHOP } from "../../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../../tests/fixtures/placement/placement_defaults.ts";
import { addShopWorkload, shopNode } from "../../../tests/fixtures/placement/placed_shop.ts";
import { sampleBudget } from "../../../tests/fixtures/placement/placed_pods.ts";
import { simulatedPlacement } from "../../../tests/simulation/controller_program.ts";
import {
  cacheSources,
  createSimulatedAPI,
  type SimulatedAPI,
} from "../../simulation/api/simulated_api.ts";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, goal, memoryAfterGC, printResult, wholeNumber } from "../bench.ts";

type ClusterSize = Readonly<Record<"workloads" | "pods", number>>;

const NODE_PODS = 50;
/** Share of the replicas on spot nodes at the beginning and after a change, percent. */
const SHARE = 70;
const NEXT_SHARE = 90;
const SETTINGS = { ...PLACEMENT_DEFAULTS, evictionsPerSecond: 1000, evictionBurst: 1000 };
const PARTS = { clock: systemClock, random: seededRandom(7), log: silentLog };

/** A cluster of Deployments with pods that run as they are to run, half of the nodes in each class. */
function createCluster({ workloads, pods }: ClusterSize): SimulatedAPI {
  const api = createSimulatedAPI({ ...PARTS, latencyMs: 0 });
  const { tables } = api.store;
  tables.Namespace.seed(SHOP);
  const nodes = Math.ceil(workloads * pods / NODE_PODS);
  for (const one of ["spot", "on-demand"] as const) {
    for (let index = 0; index < nodes; index++) tables.Node.seed(shopNode(`${one}-${index}`, one));
  }
  const onSpot = Math.floor(pods * SHARE / 100);
  for (let workload = 0; workload < workloads; workload++) {
    const name = `web-${workload}`;
    addShopWorkload({ api }, {
      name,
      annotations: { "spot-percentage": `${SHARE}%` },
      nodes: Array.from(
        { length: pods },
        (_, pod) => `${pod < onSpot ? "spot" : "on-demand"}-${(workload * pods + pod) % nodes}`,
      ),
    });
    tables.PodDisruptionBudget.seed({
      ...sampleBudget(name),
      selector: { matchLabels: { app: name }, matchExpressions: [] },
      disruptionsAllowed: pods - 1,
    });
  }
  return api;
}

/** The sources as a wire brings their lists: a copy shares no text with what the server has. */
function fromWire<S extends object>(sources: S): S {
  const each = Object.entries(sources) as [string, ListWatch<ApiObject>][];
  const copied = each.map(([name, source]) => {
    const list: typeof source.list = async (signal) =>
      JSON.parse(JSON.stringify(await source.list(signal)));
    return [name, { ...source, list }] as const;
  });
  return Object.fromEntries(copied) as S;
}

interface RunningPlacement extends AsyncDisposable {
  /** Resolves when each workload was reconciled. */
  readonly synced: Promise<void>;
  /** Gives the Deployment another share; resolves with the time until a move was sent, ms. */
  change(workload: number): Promise<number>;
}

/** Starts a loop that remembers nothing and evicts no pod, which it does not know. */
function startPlacement(api: SimulatedAPI, { workloads }: ClusterSize): RunningPlacement {
  const end = new AbortController();
  const reconciled = new Set<string>();
  const moved = new Map<string, () => void>();
  const { promise: synced, resolve: whenSynced } = Promise.withResolvers<void>();
  const ports = simulatedPlacement(api, {
    list: () => Promise.resolve([]),
    apply: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  });
  const caches = createCaches(fromWire(cacheSources(api)), PARTS);
  const placement = createPlacement({
    ...PARTS,
    caches,
    settings: () => SETTINGS,
    webhook: false,
    observer: {
      reconciled({ name }) {
        reconciled.add(name);
        if (reconciled.size === workloads) whenSynced();
      },
    },
    api: {
      ...ports,
      sources: fromWire(ports.sources),
      evictor: {
        evict({ name }) {
          moved.get(name.slice(0, name.lastIndexOf("-")))?.();
          return Promise.resolve({ is: "gone" });
        },
      },
      costs: { write: () => Promise.resolve(true) },
    },
  });
  const copies = namedCaches(caches).map(([, one]) => one);
  const informers = [...copies, ...Object.values(placement.informers)];
  const running = informers.map((one) => one.run(end.signal));
  running.push(placement.lead(end.signal));
  return {
    synced,
    async change(workload) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const name = `web-${workload}`;
      moved.set(name, resolve);
      const begun = performance.now();
      api.store.tables.Deployment.modify(`shop/${name}`, ({ metadata, ...rest }) => {
        const annotations = { ...metadata.annotations, [SPOT_PERCENTAGE]: `${NEXT_SHARE}%` };
        return { ...rest, metadata: { ...metadata, annotations } };
      });
      await promise;
      return performance.now() - begun;
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await Promise.all(running);
    },
  };
}

const MEGABYTES_PER_MEBIBYTE = 2 ** 20 / 1e6;

const { json, changes, ...size } = benchFlags<Record<"workloads" | "pods" | "changes", number>>(
  new Command("bench:placement")
    .description("Memory and reaction of placement. Exits with 1 when a goal is missed.")
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 10)
    .option("--changes <n>", "Deployments with a share that is changed", wholeNumber, 50),
);
const api = createCluster(size);
// Once for all that is loaded and compiled when it is used for the first time.
const one = { workloads: 1, pods: 1 };
await using _warm = startPlacement(createCluster(one), one);
await _warm.synced;
const idle = await memoryAfterGC();
const begun = performance.now();
await using loop = startPlacement(api, size);
await loop.synced;
const syncedSeconds = (performance.now() - begun) / 1000;
const full = await memoryAfterGC();
const decisionMs: number[] = [];
for (let index = 0; index < Math.min(changes, size.workloads); index++) {
  decisionMs.push(await loop.change(index));
}
const medianMs = quantile(decisionMs, 0.5);
const mostMs = quantile(decisionMs, 1);
const overIdle = (of: "resident" | "used") => MEGABYTES_PER_MEBIBYTE * (full[of] - idle[of]);
printResult({
  json,
  figures: { size, idle, full, syncedSeconds, decisions: { medianMs, mostMs } },
  goals: [
    goal("resident over idle, MB", overIdle("resident"), { most: 100 }),
    goal("used over idle, MB", overIdle("used"), { most: 100 }),
    goal("change to decision, s", mostMs / 1000, { most: 5 }),
  ],
  text: [
    `${size.workloads} Deployments of ${size.pods} pods, all looked at after ` +
    `${syncedSeconds.toFixed(2)} s`,
    `${decisionMs.length} changes, median ${medianMs.toFixed(0)} ms`,
  ],
});
