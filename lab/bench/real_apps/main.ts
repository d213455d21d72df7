/**
 * Real programs on a real node under four control algorithms: `deno task bench:real-apps`.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { benchFlags, wholeNumber, wholeNumberFrom } from "../bench.ts";
import { loadAppImages } from "./app_images.ts";
import {
  APP_ALGORITHMS,
  type AppAlgorithm,
  appReport,
  type AppResult,
  keep,
  mediansOf,
  readKept,
  resultFile,
} from "./app_result.ts";
import { appRun } from "./app_run.ts";
import { findPrograms } from "./programs.ts";

const { json, minutes, runs, seed, algorithms, results: folder, report } = benchFlags<{
  minutes: number;
  runs: number;
  seed: number;
  algorithms: readonly AppAlgorithm[];
  results: string;
  report: boolean;
}>(
  new Command("bench:real-apps")
    .description(
      "nginx, redis and a Deno service as pods on a real node under open-loop load, with bursts in " +
        "turn; in the second half of a run beside a neighbour that takes all CPU. Needs root on the " +
        "node of the harness.",
    )
    // Half a run holds one round of turns at least.
    .option("--minutes <n>", "length of each run, 2 or more", wholeNumberFrom(2), 10)
    .option("--runs <n>", "runs of each algorithm", wholeNumber, 3)
    .option("--seed <n>", "seed of the first run's bursts; each has the next", wholeNumber, 1)
    .option("--algorithms <a,b>", `of ${APP_ALGORITHMS.join(", ")}`, algorithmsOf, [
      ...APP_ALGORITHMS,
    ])
    .option("--results <folder>", "where results are kept, a file each", "build/real-apps")
    .option("--report", "play nothing, report the results that are there", false),
);
const seeds = Array.from({ length: runs }, (_, run) => seed + run);

function algorithmsOf(text: string): AppAlgorithm[] {
  return text.split(",").map((part) => {
    const found = APP_ALGORITHMS.find((name) => name === part.trim());
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`Expected names of ${APP_ALGORITHMS.join(", ")}.`);
  });
}

/** Plays the runs one after another: each algorithm once, then each once more. */
async function playAll(): Promise<void> {
  const instance = Deno.env.get("COALLOCATOR_CLUSTER");
  if (instance === undefined) {
    throw new Error(
      "Cannot play on a real node: this is outside of the harness; run deno task bench:real-apps",
    );
  }
  const folders = { cacheHome: Deno.env.get("XDG_CACHE_HOME"), home: Deno.env.get("HOME") };
  const programs = await findPrograms(folders);
  await loadAppImages(instance, programs);
  using node = await openRealNode();
  for (const seed of seeds) {
    for (const algorithm of algorithms) {
      const name = `${algorithm}, seed ${seed}`;
      console.error(`${name}: ${minutes} min from ${new Date().toISOString()}`);
      const run = await appRun(algorithm, { seed, minutes, node, programs });
      const { versions } = programs;
      await keep(resultFile(folder, run), { ...run, kernel: Deno.osRelease(), versions });
    }
  }
}

if (!report) await playAll();
const results: AppResult[] = [];
for (const algorithm of APP_ALGORITHMS) {
  for (const seed of seeds) {
    const result = await readKept<AppResult>(resultFile(folder, { algorithm, seed, minutes }));
    if (result !== undefined) results.push(result);
  }
}
console.log(json ? JSON.stringify({ medians: mediansOf(results), results }) : appReport(results));
