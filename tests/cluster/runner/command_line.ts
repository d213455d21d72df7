/**
 * The command line of the cluster tests.
 *
 * @module
 */
import { Command as Parser, CommanderError, InvalidArgumentError, Option } from "commander";
import { collectedOutput } from "../../../shared/config/command_line.ts";
import { type Layer, rotationOf, ROTATIONS, SUITE_TABLE, type SuiteFile } from "./suite_table.ts";

/** Files to run or to list, or a text and an exit code at once. */
export type Request =
  | {
    readonly action: "run" | "list";
    readonly files: readonly SuiteFile[];
    /** The choice in a phrase, for instance `core and rotation 3, which commit 0123abcd chooses`. */
    readonly choice: string;
    /** The flags that choose the same again. */
    readonly again: string;
    readonly jobs: number;
    /** The runner calls itself so where the cluster can be reached. */
    readonly inside: boolean;
  }
  | { readonly action: "text"; readonly text: string; readonly exitCode: 0 | 2 };

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

/** Parses the arguments; `head` returns the hash of the commit that is checked out. */
export function parseCommandLine(args: readonly string[], head: () => string): Request {
  let text = "";
  const program = new Parser("deno task test:cluster")
    .description(ABOUT)
    .exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part, complaints: true }))
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
    .addOption(new Option("--inside").hideHelp());
  try {
    program.parse([...args], { from: "user" });
    const flags = program.opts<Flags>();
    const { list = false, inside = false, jobs } = flags;
    // The whole table, unless something is chosen.
    const isChosen = flags.core ?? flags.rotation ?? flags.file;
    const chosen = list && isChosen === undefined ? everything() : choose(flags, head);
    return { action: list ? "list" : "run", ...chosen, jobs, inside };
  } catch (error) {
    if (error instanceof RangeError) {
      return { action: "text", text: `error: ${error.message}`, exitCode: 2 };
    }
    if (!(error instanceof CommanderError)) throw error;
    return { action: "text", text, exitCode: error.exitCode === 0 ? 0 : 2 };
  }
}

interface Choice {
  readonly files: readonly SuiteFile[];
  readonly choice: string;
  readonly again: string;
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
