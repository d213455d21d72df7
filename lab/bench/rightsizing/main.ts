/**
 * One whole pass of rightsizing over 24 h of usage, from empty caches: `deno task bench:rightsizing`.
 * The loop is the controller's, with sources on a real connection, over an API server that is simulated
 * in this process.
 *
 * @module
 */
import { Command } from "commander";
import {
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { storedPolicy } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import { workloadSpec } from "../../../tests/fixtures/sample_workloads.ts";
import {
  benchFlags,
  columns,
  goal,
  memoryAfterGC,
  type MemoryUse,
  printResult,
  watchMemory,
  wholeNumber,
} from "../bench.ts";
import {
  type ClusterSize,
  containerName,
  podName,
  startUsageServer,
  workloadNames,
} from "./usage_server.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { createCaches, namedCaches } from "../../../controller/caches.ts";
import { createRightsizingInformers } from "../../../controller/rightsizing/api.ts";
import { runRightsizing } from "../../../controller/rightsizing/run.ts";
import { connectUsageSources } from "../../../controller/rightsizing/sources/usage_sources.ts";
import { CONTROLLER_SETTINGS } from "../../../controller/settings.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import { simulatedRightsizing } from "../../../tests/simulation/controller_program.ts";
import {
  cacheSources,
  createSimulatedAPI,
  type SimulatedAPI,
} from "../../simulation/api/simulated_api.ts";

/** It acts on all namespaces. */
const POLICY = storedPolicy("everything", { mode: "Recommend" });
/** Instead of the sampler; Prometheus has all usage. */
const NO_SAMPLER = {
  usage: () => Promise.resolve({ problem: "unavailable", message: "no sampler is here" } as const),
};

const BARE = { uid: "", resourceVersion: "", labels: {}, annotations: {} };

/** Adds them; each pod runs, and has what its template says. */
function addCluster(tables: SimulatedAPI["store"]["tables"], size: ClusterSize): void {
  const containers = Array.from(
    { length: size.containers },
    (_, index) => templateContainer({ name: containerName(index) }),
  );
  for (let workload = 0; workload < size.workloads; workload++) {
    const { namespace, name, set } = workloadNames(workload);
    if (tables.Namespace.get(namespace) === undefined) {
      tables.Namespace.create({ metadata: { name: namespace, ...BARE } });
    }
    tables.Deployment.create({
      kind: "Deployment",
      metadata: { name, namespace, ...BARE },
      rollout: { updated: size.pods, total: size.pods, halted: false },
      spec: workloadSpec(containers, size.pods),
    });
    for (let pod = 0; pod < size.pods; pod++) {
      const { metadata, ...made } = workloadPod(podName(set, pod), containers);
      const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: set, uid: "rs" };
      tables.Pod.seed({ ...made, metadata: { ...metadata, namespace, owner } });
    }
  }
}

/** Memory counts from so many containers on: what a pass takes at any number would decide below. */
const FROM_CONTAINERS = 5000;
const MEBIBYTES_PER_CONTAINER = 0.1;

const { json, ...size } = benchFlags<{ workloads: number; pods: number; containers: number }>(
  new Command("bench:rightsizing")
    .description("Time, memory and queries of a pass. Exits with 1 when a goal is missed.")
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 1)
    .option("--containers <n>", "of each pod", wholeNumber, 5),
);
await using server = await startUsageServer(size);
const settings = {
  ...CONTROLLER_SETTINGS.parse({}),
  prometheusURL: server.url,
  policyNamespaces: [POLICY.metadata.namespace],
};
const every = { clock: systemClock, random: seededRandom(1), log: silentLog };
const api = createSimulatedAPI(every);
addCluster(api.store.tables, size);
const ports = simulatedRightsizing(api, { source: NO_SAMPLER });
const caches = createCaches(cacheSources(api), every);
const copies = createRightsizingInformers(ports.sources, every);
const sources = connectUsageSources({ ...every, settings: () => settings, sampler: NO_SAMPLER });
const cycle = Promise.withResolvers<number>();
const end = new AbortController();
const loop = runRightsizing({
  ...every,
  api: { ...ports, connectUsage: () => ({ ...sources, run: () => Promise.resolve() }) },
  caches,
  informers: copies,
  allocationStore: api.allocationStore,
  settings: () => settings,
  served: () => ({ resizeServed: true, lowersMemoryLimits: true }),
  observer: {
    cycleEnded(_policy, { tookMs, outcome }) {
      if (outcome !== undefined) cycle.resolve(tookMs);
    },
  },
}, end.signal);
const informers = [...namedCaches(caches).map(([, one]) => one), ...Object.values(copies)];
const running = Promise.all([loop, ...informers.map((one) => one.run(end.signal))]);
await Promise.all(informers.map((one) => one.whenSynced(end.signal)));
const idle = await memoryAfterGC();
const endWatch = watchMemory();
api.store.tables.OptimizationPolicy.create(POLICY);
const passSeconds = await cycle.promise / 1000;
const highest = endWatch();
const after = await memoryAfterGC();
const served = await server.stats();
const recommended = api.store.tables.RecommendationReport.all()
  .flatMap(({ workloads }) => workloads.flatMap(({ recommendations }) => recommendations)).length;
const missing = size.workloads * size.containers - recommended;
const all = size.workloads * size.pods * size.containers;
const perContainer = (of: keyof MemoryUse, use: MemoryUse) => (use[of] - idle[of]) / all;
const ofContainers = { most: MEBIBYTES_PER_CONTAINER, counts: all >= FROM_CONTAINERS };
printResult({
  json,
  figures: { size, idle, highest, after, served, recommended },
  goals: [
    goal("pass, s", passSeconds, { most: 60 }),
    goal("highest resident, MiB a container", perContainer("resident", highest), ofContainers),
    goal("used after, MiB a container", perContainer("used", after), ofContainers),
    goal("queries a workload", served.queries / size.workloads, { most: 2 }),
    goal("queries refused", served.refused, { most: 0 }),
    goal("containers without a recommendation", missing, { most: 0 }),
  ],
  text: [
    `${size.workloads} Deployments of ${size.pods} pods with ${size.containers} containers; the API ` +
    "is simulated in this process, Prometheus is a stand-in in another one",
    columns([
      ["memory, MiB", "used", "resident"],
      ...Object.entries({ idle, highest, after }).map(([name, { used, resident }]) => [
        ...[name, used.toFixed(0), resident.toFixed(0)],
      ]),
    ]),
    `${served.queries} queries; ${recommended} containers recommended for`,
  ],
});
end.abort();
await running;
