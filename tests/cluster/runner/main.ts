/**
 * Runs the cluster tests: brings the cluster up, installs the product, and runs test files beside each
 * other where they allow it.
 *
 * Exit codes: 0 all passed, 1 a test failed, 2 the command line was wrong, 130 it was interrupted.
 *
 * @module
 */
import { run, runForeground } from "../harness/shell.ts";
import { createKubectl } from "../kubectl.ts";
import { COMPONENTS_INSTALLED, installAllComponents } from "../scene/all_components.ts";
import { STATE_ROOT } from "../harness/instance.ts";
import {
  addSums,
  type FileResult,
  fileTable,
  indented,
  NO_TESTS,
  resultTable,
  runFileProcess,
  summaryLine,
} from "./file_process.ts";
import {
  type Layer,
  rotationOf,
  ROTATIONS,
  runSuite,
  SUITE_TABLE,
  type SuiteFile,
} from "./suite_table.ts";
import { Command as Parser, CommanderError, InvalidArgumentError, Option } from "commander";

const INTERRUPTED = 130;
const print = (text: string): void => console.log(text);

async function main(args: readonly string[]): Promise<number> {
  // Read before the arguments: the parser asks for it at once.
  const head = await run(["git", "rev-parse", "HEAD"]).catch(() => "");
  let chosen: Chosen;
  try {
    chosen = parseCommandLine(args, () => head.trim());
  } catch (error) {
    if (error instanceof RangeError) console.error(`error: ${error.message}`);
    else if (!(error instanceof CommanderError)) throw error;
    return error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
  }
  const { choice, again, files, list, inside, jobs } = chosen;
  if (list) {
    print(fileTable(files));
    return 0;
  }
  const kubeconfig = Deno.env.get("KUBECONFIG") ?? "";
  if (kubeconfig !== "" && !kubeconfig.startsWith(`${STATE_ROOT}/`)) {
    throw new Error(`Cannot run on the cluster of KUBECONFIG ${kubeconfig}: unset it`);
  }
  if (inside) return await runFiles(files, jobs);
  print(`Cluster tests: ${choice}, ${files.length} files. Again: deno task test:cluster ${again}`);
  return await fromOutside(again.split(" "), jobs);
}

/** Brings the cluster up, installs the product and runs this program where it can reach both. */
async function fromOutside(flags: readonly string[], jobs: number): Promise<number> {
  const deno = Deno.execPath();
  const self = [deno, "run", "-q", "-A", import.meta.filename ?? "", "--inside"];
  for (
    const step of [
      ["cluster:up"],
      ["cluster:install", "--no-follow", "--use-installed"],
      ["cluster:exec", "--", ...self, ...flags, "--jobs", `${jobs}`],
    ]
  ) {
    const code = await runForeground([deno, "task", "-q", ...step], {});
    if (code !== 0) return code;
  }
  return 0;
}

async function runFiles(files: readonly SuiteFile[], jobs: number): Promise<number> {
  const began = performance.now();
  const end = new AbortController();
  const interrupt = (): void => end.abort();
  Deno.addSignalListener("SIGINT", interrupt);
  Deno.addSignalListener("SIGTERM", interrupt);
  const at = (): string => `[${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s]`;
  const results: FileResult[] = [];
  let env: Readonly<Record<string, string>> = {};
  try {
    await runSuite(files, {
      jobs,
      signal: end.signal,
      async runFile(file: SuiteFile) {
        print(`${at()} ${file.name} starts`);
        const result = await runFileProcess(file, { env, signal: end.signal });
        results.push(result);
        const { sums: { passed, failed }, ms, output } = result;
        const outcome = failed === 0 ? `${passed} passed` : `FAILED, ${failed} of its tests`;
        print(indented(output));
        print(`${at()} ${file.name} ends after ${(ms / 1000).toFixed(1)} s: ${outcome}`);
      },
      async installComponents() {
        print(`${at()} components: install`);
        const installed = await installAllComponents(createKubectl());
        env = { [COMPONENTS_INSTALLED]: "1" };
        return {
          async [Symbol.asyncDispose]() {
            env = {};
            print(`${at()} components: remove`);
            await installed[Symbol.asyncDispose]();
          },
        };
      },
    });
  } finally {
    Deno.removeSignalListener("SIGINT", interrupt);
    Deno.removeSignalListener("SIGTERM", interrupt);
  }
  if (results.length > 0) print(`\n${resultTable(results)}\n`);
  const sums = results.map((one) => one.sums).reduce(addSums, NO_TESTS);
  print(summaryLine(sums, performance.now() - began));
  if (end.signal.aborted) return INTERRUPTED;
  return sums.failed === 0 && sums.passed > 0 ? 0 : 1;
}

interface Choice {
  readonly files: readonly SuiteFile[];
  /** In a phrase, for instance `core and rotation 3, by commit 0123abcd`. */
  readonly choice: string;
  /** The flags that choose the same again. */
  readonly again: string;
}

interface Chosen extends Choice {
  readonly jobs: number;
  readonly list: boolean;
  /** The runner calls itself so where the cluster can be reached. */
  readonly inside: boolean;
}

interface Flags {
  readonly all?: true;
  readonly core?: true;
  readonly rotation?: Layer;
  readonly file?: readonly string[];
  readonly jobs: number;
  readonly list?: true;
  readonly inside?: true;
}

const ABOUT = `Runs the tests in tests/cluster/, each file in a process of its own.

Without a flag: the core, and the rotation that the hash of the commit chooses.`;

/** Files at a time where they may run beside each other. */
const JOBS = 4;

/**
 * Parses the arguments; `head` returns the hash of the commit that is checked out. Throws a
 * `RangeError`, or a `CommanderError` after its message was printed.
 */
export function parseCommandLine(args: readonly string[], head: () => string): Chosen {
  const program = new Parser("deno task test:cluster")
    .description(ABOUT)
    .exitOverride()
    .allowExcessArguments(false)
    .addOption(new Option("--all", "all files").conflicts(["core", "rotation", "file"]))
    .addOption(new Option("--core", "the core").conflicts("file"))
    .addOption(
      new Option("--rotation <number>", `a rotation, 1 to ${ROTATIONS}; with --core both`)
        .argParser(rotation).conflicts("file"),
    )
    .option("--file <name...>", "these files, for instance market")
    .option("--jobs <number>", "files at a time", positive, JOBS)
    .option("--list", "print the files with layer, lane and seconds, and run none")
    .addOption(new Option("--inside").hideHelp())
    .parse([...args], { from: "user" });
  const flags = program.opts<Flags>();
  const { list = false, inside = false, jobs } = flags;
  // The whole table, unless something is chosen.
  const isChosen = flags.core ?? flags.rotation ?? flags.file;
  const choice = list && isChosen === undefined ? everything() : choose(flags, head);
  return { ...choice, list, jobs, inside };
}

function choose({ all, core, rotation, file }: Flags, head: () => string): Choice {
  if (all) return everything();
  if (file !== undefined) {
    const files = file.map(fileNamed);
    const names = files.map(({ name }) => name).join(" ");
    return { files, choice: `${files.length} by name`, again: `--file ${names}` };
  }
  if (core || rotation !== undefined) return layers(core ? ["core"] : [], rotation);
  const hash = head();
  const { choice, ...rest } = layers(["core"], rotationOf(hash));
  return { ...rest, choice: `${choice}, by commit ${hash.slice(0, 8)}` };
}

function everything(): Choice {
  return { files: SUITE_TABLE, choice: "all files", again: "--all" };
}

function layers(some: readonly Layer[], rotation?: Layer): Choice {
  const wanted = rotation === undefined ? some : [...some, rotation];
  const names = wanted.map((layer) => layer === "core" ? "core" : `rotation ${layer}`);
  return {
    files: SUITE_TABLE.filter(({ layer }) => wanted.includes(layer)),
    choice: names.join(" and "),
    again: names.map((name) => `--${name}`).join(" "),
  };
}

/** By name, file name or path. */
function fileNamed(text: string): SuiteFile {
  const name = text.replace(/^.*\//, "").replace(/_test\.ts$/, "");
  const file = SUITE_TABLE.find((one) => one.name === name);
  if (file !== undefined) return file;
  throw new RangeError(`Cannot find the test file ${text}: --list prints the names`);
}

function rotation(text: string): Layer {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= ROTATIONS) return number as Layer;
  throw new InvalidArgumentError(`It must be a number from 1 to ${ROTATIONS}.`);
}

function positive(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
}

if (import.meta.main) {
  try {
    Deno.exitCode = await main(Deno.args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    Deno.exitCode = 1;
  }
}
