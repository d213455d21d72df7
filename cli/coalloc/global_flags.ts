/**
 * The flags that every command has, as kubectl has them.
 *
 * @module
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { durationParser } from "./formats.ts";
import { defined } from "../../shared/defined.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "./output.ts";
import type { ConnectOptions } from "./ports.ts";

/** Values of the flags. */
export interface GlobalFlags {
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly asUid?: string;
  readonly output?: OutputFormat;
  /** Set only by commands with {@linkcode selectorOption}. */
  readonly selector?: string;
  /** False after `--no-color`. */
  readonly color: boolean;
}

/** The cluster and the user that the flags name. */
export function connectOptions(flags: GlobalFlags): ConnectOptions {
  const { kubeconfig, context, as: user, asGroup: groups, asUid: uid } = flags;
  return { ...defined({ kubeconfig, context }), impersonation: defined({ user, groups, uid }) };
}

/** Adds the flags to a command that needs a cluster; `formats` are its forms of output. */
export function addGlobalFlags(
  command: Command,
  formats: readonly string[] = OUTPUT_FORMATS,
): Command {
  return addOutputFlags(addClusterFlags(command), formats);
}

/** Adds the flags for the output. */
export function addOutputFlags(
  command: Command,
  formats: readonly string[] = OUTPUT_FORMATS,
): Command {
  return command
    .addOption(new Option("-o, --output <format>", "form of the output").choices(formats))
    .option("--no-color", "no colours, as with the variable NO_COLOR");
}

function addClusterFlags(command: Command): Command {
  return command
    .option(
      "-n, --namespace <name>",
      "look in this namespace (default: the context's)",
      valueParser("a namespace"),
    )
    .option("-A, --all-namespaces", "look in all namespaces")
    .option("--context <name>", "use this context", valueParser("a context"))
    .option("--kubeconfig <file>", "use this kubeconfig file", valueParser("a file"))
    .option("--as <user>", "act as this user", valueParser("a user"))
    .option(
      "--as-group <group>",
      "act as a member of this group; may be repeated",
      (text, before: readonly string[] = []) => [...before, valueParser("a group")(text)],
    )
    .option("--as-uid <uid>", "act as this UID", valueParser("a UID"));
}

/** `-l`: objects with these labels. */
export function selectorOption(what: "pods" | "workloads"): Option {
  return new Option("-l, --selector <labels>", `${what} with these labels only: app=web,tier!=db`)
    .argParser(valueParser("labels"));
}

/** `--watch`. Since its interval is optional, an operand after it would be taken for one: see `remedy`. */
export function watchOption(operands: string): Option {
  const remedy = `put ${operands} before -w, or write --watch=2s`;
  return new Option("-w, --watch [interval]", "again and again, for instance every 1s")
    .argParser(durationParser({ minMs: 200, maxMs: 3_600_000, remedy })).preset("2s");
}

/** `--timeout` of the wait for `subject`. */
export function timeoutOption(subject: string, seconds: number): Option {
  return new Option("--timeout <duration>", `how long to wait for ${subject}`)
    .argParser(durationParser({ minMs: 1000, maxMs: 3_600_000 }))
    .default(1000 * seconds, `${seconds}s`);
}

/** A parser that refuses a flag in place of a value. */
function valueParser(what: string): (text: string) => string {
  return (text) => {
    if (text === "" || text.startsWith("-")) throw new InvalidArgumentError(`Give ${what}`);
    return text;
  };
}

/** Examples for the end of a command's help, each below a comment with its purpose. */
export function examples(
  list: readonly (readonly [command: string, what: string])[],
): readonly ["after", string] {
  const lines = list.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`]);
  return ["after", ["", "Examples:", ...lines].join("\n")];
}

/** Exit code after Ctrl-C: 128 + SIGINT. */
export const INTERRUPTED = 130;

/** Exit code when the output is no longer read: 128 + SIGPIPE. */
export const NO_READER = 141;
