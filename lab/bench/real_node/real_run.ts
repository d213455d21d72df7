/**
 * One algorithm on the real node, from the first object to the last figure.
 *
 * @module
 */
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createLatencyHistogram, recordLatency } from "../../simulation/node/latency_histogram.ts";
import { readRequestLog } from "../../simulation/oracle/request_log.ts";
import type { LimitChangeRecord, PodSeries, RunSeries } from "../../simulation/run_record.ts";
import type { ScenePod } from "../../simulation/scene.ts";
import { scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { measureMachine } from "../services/machine_use.ts";
import { observe, type ObservedService, STEP_MS } from "../services/observe.ts";
import { createPriorityClass } from "../services/priority_class.ts";
import {
  decodeRequests,
  encodeRequests,
  type ServedRequests,
  writeStart,
} from "../services/request_file.ts";
import { untilRuns } from "../services/until_runs.ts";
import {
  type AlgorithmName,
  type AlgorithmStage,
  deployAlgorithm,
  namespaceAnnotations,
} from "./algorithms.ts";
import { serviceDeployment } from "./service_objects.ts";

/** The options of a run. */
export interface RealRunOptions extends Omit<AlgorithmStage, "namespace" | "connection"> {
  readonly connection: OpenKubeConnection;
  /** The scene's pods as the model sees them: bounds, and demand over time. */
  readonly known: readonly PodSeries[];
  readonly onProgress: (doneS: number) => void;
}

/** The outcome of a run. */
export interface RealRun {
  readonly series: RunSeries;
  /** In the order of the pods. */
  readonly services: readonly ObservedService[];
  readonly served: readonly ServedRequests[];
  /** CPUs of the machine that were busy, in the mean. */
  readonly busyCores: number;
}

/** From the last service's start to the first request: the algorithm has seen the pods by then. */
const SETTLE_MS = 3000;

/** Plays the scene under an algorithm. */
export async function realRun(algorithm: AlgorithmName, options: RealRunOptions): Promise<RealRun> {
  const { scene, connection, known, onProgress } = options;
  const folder = await Deno.makeTempDir({ prefix: "real-node-" });
  try {
    for (const { name, workload } of scene.pods) {
      const log = readRequestLog(workload(), scene.minutes * 60_000);
      await Deno.writeFile(fileOf(folder, name), encodeRequests(log));
    }
    await using namespace = await scratchNamespace(connection, {
      annotations: namespaceAnnotations(algorithm),
    });
    await startServices(scene.pods, { connection, namespace: namespace.name, folder });
    await using _deployed = await deployAlgorithm(algorithm, {
      ...options,
      namespace: namespace.name,
    });
    const startMs = Date.now() + SETTLE_MS;
    for (const { name } of scene.pods) await writeStart(fileOf(folder, name), startMs);
    const busyCores = measureMachine();
    const services = await observe(
      scene.pods.map(({ name, originalLimit }) => ({ name, originalLimit })),
      {
        connection,
        namespaces: [namespace.name],
        cores: scene.cores,
        seconds: 60 * scene.minutes,
        startMs,
        onProgress,
      },
    );
    const busy = busyCores();
    const served = await Promise.all(
      scene.pods.map(async ({ name }) => decodeRequests(await Deno.readFile(fileOf(folder, name)))),
    );
    return { series: seriesOf({ services, served }, known), services, served, busyCores: busy };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function fileOf(folder: string, name: string): string {
  return `${folder}/${name}.bin`;
}

async function startServices(
  pods: readonly ScenePod[],
  { connection, namespace, folder }: {
    readonly connection: OpenKubeConnection;
    readonly namespace: string;
    readonly folder: string;
  },
): Promise<void> {
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  for (const pod of pods) {
    // It stays: it does nothing by itself, and the cluster is a test's.
    if (pod.priority !== 0) await createPriorityClass(connection, pod.priority);
    const body = serviceDeployment(pod, { folder });
    await connection.request({ method: "POST", path: deployments, body });
  }
  for (const { name } of pods) {
    await untilRuns(`${deployments}/${name}`, connection);
  }
}

function seriesOf(
  { services, served }: Pick<RealRun, "services" | "served">,
  known: readonly PodSeries[],
): RunSeries {
  const pods = known.map((pod, index): PodSeries => {
    const { limit, usage, throttled } = services[index] as ObservedService;
    const latency = createLatencyHistogram();
    const { atMs, doneMs } = served[index] as ServedRequests;
    const endMs = limit.length * STEP_MS;
    doneMs.forEach((done, request) => {
      // Comparisons with NaN are false: what isn't done is left out.
      if (done <= endMs) recordLatency(latency, done - (atMs[request] ?? done));
    });
    return { ...pod, limit, usage, throttled, waited: new Float32Array(limit.length), latency };
  });
  return {
    stepS: STEP_MS / 1000,
    nodeCPU: 0,
    capacity: 0,
    pods,
    price: new Float32Array(0),
    changes: pods.flatMap(changesOf),
  };
}

function changesOf({ name, originalLimit, limit }: PodSeries): LimitChangeRecord[] {
  const changes: LimitChangeRecord[] = [];
  let from = originalLimit;
  limit.forEach((to, step) => {
    if (Math.abs(to - from) < 0.5) return;
    changes.push({ atS: (step + 1) * STEP_MS / 1000, pod: name, from, to });
    from = to;
  });
  return changes;
}
