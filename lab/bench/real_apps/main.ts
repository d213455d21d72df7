/**
 * Real programs on a real node under four control algorithms: `deno task bench:real-apps`.
 *
 * @module
 */
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { loadAppImages } from "./app_images.ts";
import { appReport, mediansOf } from "./app_report.ts";
import {
  APP_ALGORITHMS,
  type AppAlgorithm,
  type AppResult,
  readAppResult,
  writeAppResult,
} from "./app_result.ts";
import { appRun } from "./app_run.ts";
import { parseCommandLine, type RealAppsBench } from "./command_line.ts";
import { findPrograms } from "./programs.ts";
import { printAnswer } from "../parse_flags.ts";

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(args);
  if ("exitCode" in parsed) return printAnswer(parsed);
  if (!parsed.report) await playAll(parsed);
  const results = (await Promise.all(
    APP_ALGORITHMS.flatMap((algorithm) =>
      seedsOf(parsed).map((seed) => read(algorithm, { ...parsed, seed }))
    ),
  )).flatMap((result) => result ?? []);
  const json = (): string => JSON.stringify({ medians: mediansOf(results), results }, undefined, 2);
  console.log(parsed.json ? json() : appReport(results));
  return 0;
}

function seedsOf({ seed, runs }: RealAppsBench): number[] {
  return Array.from({ length: runs }, (_, run) => seed + run);
}

function read(
  algorithm: AppAlgorithm,
  { results, seed, minutes }: RealAppsBench,
): Promise<AppResult | undefined> {
  return readAppResult({ folder: results, algorithm, seed, minutes });
}

/** Plays the runs one after another: each algorithm once, then each once more. */
async function playAll(options: RealAppsBench): Promise<void> {
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
  for (const seed of seedsOf(options)) {
    for (const algorithm of options.algorithms) {
      const name = `${algorithm}, seed ${seed}`;
      console.error(`${name}: ${options.minutes} min from ${new Date().toISOString()}`);
      const run = await appRun(algorithm, {
        ...{ seed, minutes: options.minutes, connection: node.connection, programs },
        cores: navigator.hardwareConcurrency,
        onProgress: (doneS) => console.error(`${name}: ${doneS} s`),
      });
      const file = await writeAppResult(options.results, {
        ...run,
        at: new Date().toISOString(),
        kernel: Deno.osRelease(),
        versions: programs.versions,
      });
      console.error(`${name}: ${file}`);
    }
  }
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
