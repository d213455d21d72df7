/**
 * `deno task test` and `deno task test:long`: all tests that need no cluster, browser or
 * Prometheus.
 *
 * @module
 */
import { Command, Option } from "commander";
import { numberWithin, parseTaskFlags, type TaskArguments } from "../../lab/task/task_flags.ts";
import { projectFiles } from "../project_files.ts";
import { groupModule, projectPath, selectedTests, testGroups } from "./test_groups.ts";

/** The tests that one run selects, and the cases that it draws. */
export interface TestOptions {
  /** Files or folders below the project's root; empty: all of them. */
  readonly paths: readonly string[];
  /** Runs only tests with this text in the name, or a match of /it/. */
  readonly filter?: string;
  /** Adds `tests/long/`, draws new cases and measures coverage. */
  readonly long: boolean;
  /** Seed of the properties; absent: 1, or a random one with `long`. */
  readonly seed?: number;
  /** Cases of each property. */
  readonly cases: number;
  /** Groups of files that run at once; absent: one per CPU. */
  readonly jobs?: number;
}

/**
 * Cases of a property in the tests that each change must pass. With fewer some properties fail that
 * assert which situations their cases have reached.
 */
const CASES = 100;

/** The same in the long tests. */
const LONG_CASES = 2000;

/** fast-check's generators take 32 bits. */
const MOST_SEED = 2 ** 31 - 1;

/** Reads the arguments of the task. Never throws for what a user may type. */
export function parseTestOptions(
  args: readonly string[],
):
  | { readonly kind: "run"; readonly options: TestOptions }
  | Exclude<
    TaskArguments<never>,
    { readonly kind: "flags" }
  > {
  const command = testCommand();
  const read = parseTaskFlags<Partial<TestOptions>>(command, args);
  if (read.kind !== "flags") return read;
  const { long = false, ...flags } = read.flags;
  const cases = long ? LONG_CASES : CASES;
  return { kind: "run", options: { cases, long, ...flags, paths: command.args } };
}

function testCommand(): Command {
  const count = numberWithin({ least: 1, most: 1000, whole: true });
  return new Command("test")
    .description("Runs the tests that need no cluster, browser or Prometheus.")
    .argument("[paths...]", "test files or folders; without any, all tests")
    .option("--filter <text>", "only tests with the text in the name, or a match of /it/")
    .option("--long", "also tests/long, with new random cases, and coverage")
    .addOption(
      new Option("--seed <integer>", "seed of the properties; default 1, random with --long")
        .argParser(numberWithin({ least: -MOST_SEED, most: MOST_SEED, whole: true })),
    )
    .addOption(
      new Option("--cases <count>", `per property; default ${CASES}, ${LONG_CASES} with --long`)
        .argParser(numberWithin({ least: CASES, most: 1_000_000, whole: true })),
    )
    .addOption(
      new Option("--jobs <count>", "groups of files at once; default: one per CPU")
        .argParser(count),
    );
}

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
    return 2;
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

if (import.meta.main) Deno.exitCode = await main();
