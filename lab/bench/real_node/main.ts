/**
 * Control algorithms on a real node, and the node model's figures of the same: `deno task
 * bench:real-node`.
 *
 * @module
 */
import { latencyQuantile } from "../../simulation/node/latency_histogram.ts";
import { mean } from "../../simulation/statistics.ts";
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { parseCommandLine, type RealNodeBench } from "./command_line.ts";
import { type ComparedAlgorithm, comparisonTable } from "./comparison.ts";
import { figuresOf } from "./figures.ts";
import { type AlgorithmName, ALGORITHMS } from "./algorithms.ts";
import { MODELLED_ALGORITHMS, modelRun } from "./model_run.ts";
import { type RealRun, realRun } from "./real_run.ts";
import {
  type AlgorithmResult,
  readResult,
  type ServiceResult,
  writeResult,
} from "./result_file.ts";
import { type BenchScene, benchScene } from "./scene.ts";
import { standingTime } from "./standing_time.ts";
import { loadServiceImage } from "../services/service_image.ts";
import { printAnswer } from "../parse_flags.ts";

const say = (text: string): void => console.error(text);

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(args);
  if ("exitCode" in parsed) return printAnswer(parsed);
  const bench = await benchScene(parsed);
  if (!parsed.report) await playAll(parsed, bench);
  await report(parsed, bench);
  return 0;
}

async function playAll(options: RealNodeBench, { scene, bursts }: BenchScene): Promise<void> {
  const { seed, minutes, load, algorithms, results } = options;
  const instance = Deno.env.get("COALLOCATOR_CLUSTER");
  const kubeconfig = Deno.env.get("KUBECONFIG");
  if (instance === undefined || kubeconfig === undefined) {
    throw new Error(
      "Cannot play on a real node: this is outside of the harness; run deno task bench:real-node",
    );
  }
  await loadServiceImage(instance);
  using node = await openRealNode();
  await Deno.mkdir(results, { recursive: true });
  const { pods: known } = await modelRun(scene, "static");
  for (const algorithm of algorithms) {
    say(`${algorithm}: ${minutes} min from ${new Date().toISOString()}`);
    const run = await realRun(algorithm, {
      scene,
      known,
      connection: node.connection,
      kubeconfig,
      folders: { cacheHome: Deno.env.get("XDG_CACHE_HOME"), home: Deno.env.get("HOME") },
      logs: results,
      onProgress: (doneS) => say(`${algorithm}: ${doneS} s`),
    });
    const figures = figuresOf(run.series, bursts);
    const file = await writeResult(results, {
      algorithm,
      seed,
      minutes,
      load,
      cores: scene.cores,
      at: new Date().toISOString(),
      kernel: Deno.osRelease(),
      othersCores: run.busyCores - figures.coresUsed,
      figures,
      services: servicesOf(run, { cores: scene.cores, minutes }),
      changes: run.series.changes.map(({ atS, pod, from, to }) => ({ atS, pod, from, to })),
    });
    say(`${algorithm}: ${file}`);
  }
}

function servicesOf(
  { series, services, served }: RealRun,
  { cores, minutes }: { readonly cores: number; readonly minutes: number },
): ServiceResult[] {
  const seconds = 60 * minutes;
  const endMs = 1000 * seconds;
  return series.pods.flatMap((pod, index): ServiceResult[] => {
    const [seen, requests] = [services[index], served[index]];
    if (seen === undefined || requests === undefined) return [];
    const { name, request, originalLimit, limit, latency } = pod;
    const { usageMs, throttledMs, podLevelMs, containerLevelMs } = seen.total;
    return [{
      name,
      request,
      originalLimit,
      meanLimit: mean(limit),
      usedMsPerS: usageMs / seconds,
      throttledMsPerS: throttledMs / seconds,
      podLevelMsPerS: podLevelMs / seconds,
      containerLevelMsPerS: containerLevelMs / seconds,
      standingMsPerS: standingTime(requests, { cores, endMs }) / seconds,
      mostReplicas: seen.mostReplicas,
      requests: requests.atMs.length,
      completed: latency.total,
      p50Ms: latencyQuantile(latency, 0.5),
      p99Ms: latencyQuantile(latency, 0.99),
    }];
  });
}

/** Prints the result of each algorithm, and the model's figures of the same scene. */
async function report(options: RealNodeBench, { scene, bursts }: BenchScene): Promise<void> {
  const { seed, minutes, load, results: folder, json } = options;
  const found: (ComparedAlgorithm & { readonly result: AlgorithmResult })[] = [];
  for (const algorithm of ALGORITHMS) {
    const result = await readResult({ folder, algorithm, seed, minutes, load });
    if (result === undefined) continue;
    const { othersCores, services } = result;
    const sumOf = (key: "podLevel" | "containerLevel" | "standing"): number =>
      services.reduce((sum, service) => sum + service[`${key}MsPerS`], 0);
    const accounts = {
      podLevel: sumOf("podLevel"),
      containerLevel: sumOf("containerLevel"),
      standing: sumOf("standing"),
    };
    const real = realFigures(result);
    found.push({ algorithm, real, othersCores, accounts, result, ...await modelOf(algorithm) });
  }
  async function modelOf(algorithm: AlgorithmName): Promise<Pick<ComparedAlgorithm, "model">> {
    if (!MODELLED_ALGORITHMS.includes(algorithm)) return {};
    return { model: figuresOf(await modelRun(scene, algorithm), bursts) };
  }
  console.log(json ? JSON.stringify(found, undefined, 2) : comparisonTable(found));
}

/** Without the fields that are there and undefined. */
function realFigures({ figures }: AlgorithmResult): ComparedAlgorithm["real"] {
  const { reactionMsMedian, reactionMsP95, ...rest } = figures;
  return {
    ...rest,
    ...(reactionMsMedian === undefined ? {} : { reactionMsMedian }),
    ...(reactionMsP95 === undefined ? {} : { reactionMsP95 }),
  };
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
