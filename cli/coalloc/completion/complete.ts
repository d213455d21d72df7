/**
 * Completion of the last argument. Pure but for the names that it reads.
 *
 * @module
 */
import type { Command, Option } from "commander";

/** Names from the cluster; each gives nothing when they can't be had. */
export interface CompletionNames {
  pods(namespace: string | undefined): Promise<readonly string[]>;
  /** Those that there are recommendations for; with their kind where several have the name. */
  workloads(namespace: string | undefined): Promise<readonly string[]>;
  /** Those with replicas that may be placed, likewise. */
  placeable(namespace: string | undefined): Promise<readonly string[]>;
  /** Policies that count for some workload there. */
  policies(namespace: string | undefined): Promise<readonly string[]>;
  namespaces(): Promise<readonly string[]>;
  nodes(): Promise<readonly string[]>;
}

/** "No files", in the protocol of completion between kubectl and its plugins (cobra's directives). */
const NO_FILES = ":4";

/** Flags with values that are files. */
const FILES: ReadonlySet<string> = new Set(["kubeconfig", "trace"]);
/** The directive "files, if there is nothing else". */
const DEFAULT = ":0";

/** What is asked of the completion. */
export interface CompletionInput {
  /** The arguments after the program's name; the last, maybe empty, is the one to complete. */
  readonly args: readonly string[];
  readonly names: CompletionNames;
}

/** Candidates, one a line, with a tab before their description, and then a directive. */
export async function complete(root: Command, { args, names }: CompletionInput): Promise<string> {
  const last = args.at(-1) ?? "";
  const before = args.slice(0, -1);
  const [name] = plainArguments(root, before);
  const command = name === undefined ? root : root.commands.find((one) => one.name() === name);
  if (command === undefined) return answer([], { last });
  // Flags may stand before the command, too.
  const typed = before.toSpliced(before.indexOf(name ?? ""), name === undefined ? 0 : 1);
  const previous = flagOf(command, typed.at(-1));
  const namespace = valueOf(command, typed, { flag: "--namespace" });
  if (previous?.required) return await valuesOf(previous, { last, names, namespace });
  const [, flagName = "", value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const assigned = flagOf(command, flagName);
  if (assigned !== undefined && value !== undefined) {
    const text = await valuesOf(assigned, { last: value, names, namespace });
    return text.split("\n").map((line) =>
      line.startsWith(":") || line === "" ? line : `${flagName}=${line}`
    ).join("\n");
  }
  if (last.startsWith("-")) return answer(flagsOf(command), { last });
  return answer(await argumentsOf(command, { typed, names }), { last });
}

function flagOf(command: Command, arg: string | undefined): Option | undefined {
  return command.options.find(({ long, short }) =>
    arg !== undefined && [long, short].includes(arg)
  );
}

async function valuesOf(
  option: Option,
  { last, names, namespace }: {
    readonly last: string;
    readonly names: CompletionNames;
    readonly namespace: string | undefined;
  },
): Promise<string> {
  const name = option.name();
  if (FILES.has(name)) return `${DEFAULT}\n`;
  if (option.argChoices !== undefined) return answer(option.argChoices, { last });
  if (name === "namespace") return answer(await names.namespaces(), { last });
  if (name === "policy") return answer(await names.policies(namespace), { last });
  if (name === "node") return answer(await names.nodes(), { last });
  return answer([], { last });
}

async function argumentsOf(
  command: Command,
  { typed, names }: { readonly typed: readonly string[]; readonly names: CompletionNames },
): Promise<readonly string[]> {
  if (command.commands.length > 0) {
    return command.commands.map((one) => `${one.name()}\t${one.summary()}`);
  }
  const [argument] = command.registeredArguments;
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return argument.argChoices;
  const given = plainArguments(command, typed);
  if (given.length > 0 && !argument.variadic) return [];
  const namespace = valueOf(command, typed, { flag: "--namespace" });
  if (argument.name() === "workload") {
    return command.name() === "placement"
      ? await names.placeable(namespace)
      : await names.workloads(namespace);
  }
  const pods = await names.pods(namespace);
  return pods.filter((pod) => !given.includes(pod));
}

/** Arguments that are neither flags nor their values. */
function plainArguments(command: Command, typed: readonly string[]): string[] {
  return typed.filter((arg, index) =>
    !arg.startsWith("-") && !flagOf(command, typed[index - 1])?.required
  );
}

function valueOf(
  command: Command,
  typed: readonly string[],
  { flag }: { readonly flag: string },
): string | undefined {
  for (const [index, arg] of typed.entries()) {
    if (arg.startsWith(`${flag}=`)) return arg.slice(flag.length + 1);
    if (flagOf(command, arg)?.long === flag) return typed[index + 1];
  }
  return undefined;
}

function flagsOf(command: Command): string[] {
  const own = command.options.map(({ long, description }) => `${long}\t${description}`);
  return [...own, "--help\tshow the help of this command"];
}

function answer(candidates: readonly string[], { last }: { readonly last: string }): string {
  const lines = candidates.filter((one) => one.startsWith(last));
  return [...lines, NO_FILES, ""].join("\n");
}
