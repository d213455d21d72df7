/**
 * The loop of rightsizing as the controller runs it, with sources on a real connection, over an API
 * server that is simulated in this process.
 *
 * @module
 */
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
import {
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";

/** The running loop; without a policy it is idle. */
export interface RunningLoop extends AsyncDisposable {
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
export function startLoop(size: ClusterSize, prometheusURL: string): RunningLoop {
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
