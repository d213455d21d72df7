/**
 * Completion of the last argument.
 *
 * @module
 */
import type { Command, Option } from "commander";
import type { ReportedWorkload } from "../../../shared/api/recommendation_report.ts";
import { defined } from "../../../shared/defined.ts";
import type { WorkloadArgument } from "../formats.ts";
import { workloadTitle } from "../../../shared/view/figures.ts";
import { readPlacement } from "../placement/placement_view.ts";
import type { Cluster, CoallocWorld } from "../ports.ts";

/** "No files", in the protocol of completion between kubectl and its plugins (cobra's directives). */
const NO_FILES = ":4";

/** The directive "files, if there is nothing else". */
const DEFAULT = ":0";

/** Reads names; of pods and workloads those of the namespace. */
type NameSource = (cluster: Cluster, namespace: string) => Promise<readonly string[]>;

/** Names by the flag or argument that they are for. */
const NAME_SOURCES: Readonly<Record<string, NameSource>> = {
  namespace: async ({ reader }) => (await reader.pods()).map(({ metadata }) => metadata.namespace),
  node: async ({ reader }) => (await reader.pods()).flatMap(({ nodeName }) => nodeName || []),
  policy: async (cluster, namespace) =>
    (await reportedBy(cluster, namespace)).map(({ policy }) => policy.name),
  pod: async ({ reader }, namespace) =>
    (await reader.pods(namespace)).map(({ metadata }) => metadata.name),
  workload: async (cluster, namespace) => distinctNames(await reportedBy(cluster, namespace)),
  placement: async (cluster, name) =>
    distinctNames((await readPlacement(cluster, { namespace: { all: false, name } })).workloads),
};

/** The arguments to complete, and the cluster to read names from. */
export interface CompletionInput extends Pick<CoallocWorld, "connect"> {
  /** The arguments after the program's name; the last, maybe empty, is the one to complete. */
  readonly args: readonly string[];
}

/** The command, its arguments before the last one, and the connection. */
interface Typed extends Pick<CoallocWorld, "connect"> {
  readonly command: Command;
  readonly args: readonly string[];
}

/** Candidates, one a line, with a tab before their description, and then a directive. */
export async function complete(
  root: Command,
  { args, connect }: CompletionInput,
): Promise<string> {
  const last = args.at(-1) ?? "";
  const before = args.slice(0, -1);
  const [name] = plainArguments(root, before);
  const command = name === undefined ? root : root.commands.find((one) => one.name() === name);
  if (command === undefined) return completionText([], last);
  // Flags may be before the command, too.
  const commandArgs = before.toSpliced(before.indexOf(name ?? ""), name === undefined ? 0 : 1);
  const typed = { command, args: commandArgs, connect };
  const previous = flagOf(command, commandArgs.at(-1));
  if (previous?.required) return await valuesOf(previous, { last, typed });
  const [, flagName = "", value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const assigned = flagOf(command, flagName);
  if (assigned !== undefined && value !== undefined) {
    const text = await valuesOf(assigned, { last: value, typed });
    return text.split("\n").map((line) =>
      line.startsWith(":") || line === "" ? line : `${flagName}=${line}`
    ).join("\n");
  }
  return completionText(last.startsWith("-") ? flagsOf(command) : await argumentsOf(typed), last);
}

function flagOf(command: Command, arg: string | undefined): Option | undefined {
  return command.options.find(({ long, short }) =>
    arg !== undefined && [long, short].includes(arg)
  );
}

async function valuesOf(
  option: Option,
  { last, typed }: { readonly last: string; readonly typed: Typed },
): Promise<string> {
  if (option.flags.endsWith(" <file>")) return `${DEFAULT}\n`;
  return completionText(option.argChoices ?? await namesFor(option.name(), typed), last);
}

async function argumentsOf(typed: Typed): Promise<readonly string[]> {
  const { command, args } = typed;
  if (command.commands.length > 0) {
    return command.commands.map((one) => `${one.name()}\t${one.summary()}`);
  }
  const [argument] = command.registeredArguments;
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return argument.argChoices;
  const given = plainArguments(command, args);
  if (given.length > 0 && !argument.variadic) return [];
  if (argument.name() === "workload") {
    return await namesFor(command.name() === "placement" ? "placement" : "workload", typed);
  }
  return (await namesFor("pod", typed)).filter((pod) => !given.includes(pod));
}

/** The names; none without a cluster, as completion reports no errors. */
async function namesFor(
  source: string,
  { command, args, connect }: Typed,
): Promise<readonly string[]> {
  const given = (flag: string): string | undefined => {
    const index = args.findIndex((arg) =>
      arg.startsWith(`${flag}=`) || flagOf(command, arg)?.long === flag
    );
    const arg = args[index];
    if (arg === undefined) return undefined;
    return arg.startsWith(`${flag}=`) ? arg.slice(flag.length + 1) : args[index + 1];
  };
  const read = NAME_SOURCES[source];
  if (read === undefined) return [];
  try {
    const [kubeconfig, context] = [given("--kubeconfig"), given("--context")];
    const cluster = await connect(defined({ kubeconfig, context }));
    const found = await read(cluster, given("--namespace") ?? cluster.defaultNamespace);
    return [...new Set(found)].sort();
  } catch {
    return [];
  }
}

/** Names, with the kind where there are several of one name. */
function distinctNames(all: readonly Required<WorkloadArgument>[]): readonly string[] {
  const kinds = Map.groupBy(all, ({ name }) => name);
  return all.map((one) =>
    new Set(kinds.get(one.name)?.map(({ kind }) => kind)).size > 1 ? workloadTitle(one) : one.name
  );
}

async function reportedBy(
  { recommendations }: Cluster,
  namespace: string,
): Promise<readonly ReportedWorkload[]> {
  return (await recommendations.reports(namespace)).flatMap(({ workloads }) => workloads);
}

/** Arguments that are neither flags nor their values. */
function plainArguments(command: Command, args: readonly string[]): string[] {
  return args.filter((arg, index) =>
    !arg.startsWith("-") && !flagOf(command, args[index - 1])?.required
  );
}

function flagsOf(command: Command): string[] {
  const flags = command.options.map(({ long, description }) => `${long}\t${description}`);
  return [...flags, "--help\tshow the help of this command"];
}

function completionText(candidates: readonly string[], last: string): string {
  return [...candidates.filter((one) => one.startsWith(last)), NO_FILES, ""].join("\n");
}
