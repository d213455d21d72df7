/**
 * `deno task test` and `deno task test:long`: all tests that need no cluster, browser or
 * Prometheus.
 *
 * @module
 */
import { projectFiles } from "../project_files.ts";
import { groupModule, projectPath, selectedTests, testGroups } from "./test_groups.ts";
import { parseTestOptions, type TestOptions } from "./test_options.ts";

const root = new URL("../../", import.meta.url);

const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM"];

/** Runs Deno itself. A signal that ends this process ends that one first. */
async function deno(args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: root,
    env,
    stdin: "null",
  });
  const child = command.spawn();
  const end = (): void => child.kill("SIGTERM");
  for (const signal of SIGNALS) Deno.addSignalListener(signal, end);
  const { code } = await child.status;
  for (const signal of SIGNALS) Deno.removeSignalListener(signal, end);
  return code;
}

/** Sets up fast-check in each isolate before its tests are defined. */
function preloadModule({ cases, seed }: { cases: number; seed: number }): string {
  return `import fc from "fast-check";
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: ${seed}, numRuns: ${cases} });
`;
}

/** The thresholds hold for all tests together. */
function measuresCoverage({ long, paths, filter }: TestOptions): boolean {
  return long && paths.length === 0 && filter === undefined;
}

async function removeCoverage(): Promise<void> {
  try {
    await Deno.remove(new URL("coverage", root), { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function runTests(options: TestOptions): Promise<number> {
  const paths = options.paths.map((path) => projectPath(path, root));
  const files = selectedTests(await projectFiles(root, ".ts"), { ...options, paths });
  const seed = options.seed ?? (options.long ? crypto.getRandomValues(new Int32Array(1))[0]! : 1);
  console.log(`${files.length} test files, ${options.cases} cases per property, seed ${seed}`);
  if (options.long) console.log(`To repeat: deno task test:long --seed ${seed}`);
  if (measuresCoverage(options)) await removeCoverage();
  const folder = await Deno.makeTempDir({ dir: "/tmp", prefix: "coallocator-tests-" });
  try {
    const preload = `${folder}/preload.ts`;
    await Deno.writeTextFile(preload, preloadModule({ cases: options.cases, seed }));
    const groups = await Promise.all(
      testGroups(files).map(async (group, i) => {
        const path = `${folder}/group_${String(i + 1).padStart(2, "0")}_test.ts`;
        await Deno.writeTextFile(path, groupModule(group, root));
        return path;
      }),
    );
    const coverage = measuresCoverage(options) ? ["--coverage=coverage"] : [];
    const filter = options.filter === undefined ? [] : [`--filter=${options.filter}`];
    const flags = ["--config=deno.json", "--permission-set=test", "--no-check", "--parallel"];
    return await deno(
      ["test", ...flags, ...coverage, ...filter, `--preload=${preload}`, ...groups],
      options.jobs === undefined ? {} : { DENO_JOBS: String(options.jobs) },
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  const read = parseTestOptions(Deno.args);
  if (read.kind === "help") {
    console.log(read.text.trimEnd());
    return 0;
  }
  if (read.kind === "usage-error") {
    console.error(read.message);
    return read.exitCode;
  }
  const { options } = read;
  try {
    const code = await runTests(options);
    return code === 0 && measuresCoverage(options) ? await deno(["task", "coverage:report"]) : code;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    console.error(error.message);
    return 2;
  }
}

Deno.exitCode = await main();
