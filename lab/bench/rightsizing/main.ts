/**
 * One whole pass of rightsizing over 24 h of usage, from empty caches: `deno task bench:rightsizing`.
 * The loop is the controller's, with sources on a real connection, over an API server that is simulated
 * in this process.
 *
 * @module
 */
import process from "node:process";
import { Command } from "commander";
import {
  autoPolicy,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { benchFlags, columns, goal, printResult, wholeNumber } from "../bench.ts";
import { memoryAfterGC, watchMemory } from "../memory.ts";
import { startUsageServer } from "./usage_server.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { createCaches, namedCaches } from "../../../controller/caches.ts";
import { createRightsizingCopies } from "../../../controller/rightsizing/api.ts";
import { ClusterFacts } from "../../../controller/rightsizing/cluster_facts.ts";
import { CorrectionMemory } from "../../../controller/rightsizing/corrections.ts";
import { runRightsizingLoop } from "../../../controller/rightsizing/loop.ts";
import { connectUsageSources } from "../../../controller/rightsizing/sources/usage_sources.ts";
import { CONTROLLER_SETTINGS } from "../../../controller/settings.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import { recordsOf } from "../../../shared/rightsizing/reports.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import {
  cacheSources,
  createSimulatedAPI,
  type SimulatedAPI,
} from "../../simulation/api/simulated_api.ts";
import {
  type ClusterSize,
  containerName,
  namespaceOf,
  podName,
  replicaSetName,
  workloadName,
} from "./known_usage.ts";

/** The running loop; without a policy it is idle. */
interface RunningLoop extends AsyncDisposable {
  /** All copies are there. */
  readonly synced: Promise<unknown>;
  /** Adds the policy; resolves with the ms from its first cycle's beginning until all is written. */
  pass(spec: PolicySpec): Promise<number>;
  /** The usage of the namespaces' workloads. */
  records(): readonly WorkloadRecord[];
}

/** As many as by default. */
const WORKERS = 10;
const refuse = (): Promise<never> =>
  Promise.reject(new Error("Cannot write: no market and no VPA is here"));
/** Where the policy is; it acts on all others. */
const HOME = "rightsizing";

/** Starts it over a cluster of this size, with usage from the server at this address. */
function startLoop(size: ClusterSize, prometheusURL: string): RunningLoop {
  const clock = systemClock;
  const random = seededRandom(1);
  const api = createSimulatedAPI({ clock, random });
  addCluster(api.store.tables, size);
  const end = new AbortController();
  const every = { clock, random, log: silentLog };
  const caches = createCaches(cacheSources(api), every);
  const followed = createRightsizingCopies({
    policies: api.listWatch("OptimizationPolicy"),
    reports: api.listWatch("RecommendationReport"),
    replicaSets: api.listWatch("ReplicaSet"),
  }, every);
  const copies = [...namedCaches(caches).map(([, one]) => one), ...Object.values(followed)];
  const sources = usageFrom(prometheusURL);
  const ended = Promise.withResolvers<number>();
  const loop = runRightsizingLoop({
    caches: { ...caches, ...followed },
    sources,
    cluster: new ClusterFacts({
      caches: { ...caches, ...followed },
      corrections: new CorrectionMemory(),
      dryRun: () => false,
      served: () => ({ resizeServed: true, lowersMemoryLimits: true }),
      missingPermissions: () => [],
    }),
    appliers: {
      resizer: api.podResizer("optipod"),
      setOriginalLimits: refuse,
      workloads: api.workloadWriter,
    },
    statuses: api.policyStatusWriter,
    reports: api.reportStore,
    vpaPublisher: { create: refuse, recommend: refuse, remove: refuse },
    events: { emit: () => {} },
    settings: () => ({
      ...CONTROLLER_SETTINGS.parse({}),
      policyNamespaces: [HOME],
      rightsizingWorkers: WORKERS,
    }),
    clock,
    random,
    log: silentLog,
    observer: {
      cycleEnded(_policy, { tookMs, outcome }) {
        if (outcome !== undefined) ended.resolve(tookMs);
      },
    },
  }, end.signal);
  const work = Promise.all([loop, ...copies.map((one) => one.run(end.signal))]);
  return {
    synced: Promise.all(copies.map((one) => one.whenSynced(end.signal))),
    pass(spec) {
      api.store.tables.OptimizationPolicy.create({
        metadata: { name: "everything", namespace: HOME, ...NO_VERSION, generation: 1 },
        spec,
        faults: [],
        status: {},
      });
      return ended.promise;
    },
    records() {
      const names = Array.from({ length: size.workloads }, (_, workload) => namespaceOf(workload));
      const reports = api.store.tables.RecommendationReport.all();
      return [...new Set(names)].flatMap((name) =>
        recordsOf(reports.filter(({ metadata }) => metadata.namespace === name), name)
      );
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await work;
      sources.close();
    },
  };
}

/** Usage of this Prometheus alone. */
function usageFrom(prometheusURL: string): ReturnType<typeof connectUsageSources> {
  const settings = { ...CONTROLLER_SETTINGS.parse({}), prometheusURL };
  return connectUsageSources({
    settings: () => settings,
    sampler: {
      usage: () => Promise.resolve({ problem: "unavailable", message: "no sampler is here" }),
    },
    clock: systemClock,
    log: silentLog,
  });
}

const NO_VERSION = { uid: "", resourceVersion: "" };
const BARE = { ...NO_VERSION, labels: {}, annotations: {} };

/** Adds them; each pod runs, and has what its template says. */
function addCluster(tables: SimulatedAPI["store"]["tables"], size: ClusterSize): void {
  const containers = Array.from(
    { length: size.containers },
    (_, index) => templateContainer({ name: containerName(index) }),
  );
  const namespaces = new Set<string>();
  for (let workload = 0; workload < size.workloads; workload++) {
    const namespace = namespaceOf(workload);
    if (!namespaces.has(namespace)) {
      tables.Namespace.create({ metadata: { name: namespace, ...BARE } });
      namespaces.add(namespace);
    }
    tables.Deployment.create({
      kind: "Deployment",
      metadata: { name: workloadName(workload), namespace, ...BARE },
      rollout: { updated: size.pods, total: size.pods, stands: false },
      makes: {
        paused: false,
        replicas: size.pods,
        template: { containers, initContainers: [] },
      },
    });
    for (let pod = 0; pod < size.pods; pod++) {
      const name = podName({ workload, pod });
      const made = workloadPod(name, containers);
      const { owner } = made.metadata;
      tables.Pod.seed({
        ...made,
        metadata: {
          ...made.metadata,
          namespace,
          ...(owner === undefined ? {} : { owner: { ...owner, name: replicaSetName(workload) } }),
        },
      });
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
await using loop = startLoop(size, server.url);
await loop.synced;
const idle = await memoryAfterGC();
const endWatch = watchMemory();
const cpuBefore = process.cpuUsage();
const passSeconds = await loop.pass(autoPolicy({}, { mode: "Recommend" })) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const highest = endWatch();
const after = await memoryAfterGC();
const served = await server.stats();
const recommended = loop.records().flatMap(({ recommendations }) => recommendations).length;
const missing = size.workloads * size.containers - recommended;
const all = size.workloads * size.pods * size.containers;
const ofContainers = { most: MEBIBYTES_PER_CONTAINER, counts: all >= FROM_CONTAINERS };
printResult({
  json,
  figures: { size, idle, highest, after, served, recommended },
  goals: [
    goal("pass, s", passSeconds, { most: 60 }),
    goal(
      "highest resident, MiB a container",
      (highest.resident - idle.resident) / all,
      ofContainers,
    ),
    goal("used after, MiB a container", (after.used - idle.used) / all, ofContainers),
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
    `CPU ${((user + system) / 1e6).toFixed(1)} s; ${served.queries} queries, ${served.points} ` +
    `points; ${recommended} containers recommended for`,
  ],
});
