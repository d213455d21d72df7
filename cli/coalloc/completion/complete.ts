/**
 * Completion of the last argument.
 *
 * @module
 */
import { type Command, CommanderError, type Option } from "commander";
import type { ReportedWorkload } from "../../../shared/api/recommendation_report.ts";
import { collectedOutput } from "../../../shared/config/command_line.ts";
import { allFlags } from "../coalloc_command.ts";
import type { WorkloadArgument } from "../formats.ts";
import { connectOptions, type GlobalFlags } from "../global_flags.ts";
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

/** The arguments to complete, and where names come from. */
export interface CompletionInput {
  /** The arguments after the program's name; the last, maybe empty, is the one to complete. */
  readonly args: readonly string[];
  readonly world: Pick<CoallocWorld, "connect" | "contexts">;
}

/** The arguments before the last one. */
interface Typed extends Pick<CompletionInput, "world"> {
  readonly command: Command;
  readonly operands: readonly string[];
  /** The flag that the last argument is a value of. */
  readonly flag?: Option;
}

/** Candidates, one a line, with a tab before their description, and then a directive. */
export async function complete(root: Command, { args, world }: CompletionInput): Promise<string> {
  const last = args.at(-1) ?? "";
  const read = typedArguments(root, args.slice(0, -1));
  if (read === undefined) return completionText([], last);
  const typed = { ...read, world };
  if (typed.flag !== undefined) return await valuesOf(typed.flag, { last, typed });
  const [, begin = "", value = ""] = /^(--[^=]+=|-\w(?=.))(.*)$/s.exec(last) ?? [];
  const assigned = flagOf(typed.command, begin.replace("=", ""));
  if (assigned !== undefined) {
    const text = await valuesOf(assigned, { last: value, typed });
    return text.replaceAll(/^(?=[^:\n])/gm, begin);
  }
  const isFlag = last.startsWith("-");
  return completionText(isFlag ? flagsOf(typed.command) : await argumentsOf(typed), last);
}

/** Reads the arguments as a call does; undefined for a wrong one, unless a flag is the last. */
function typedArguments(root: Command, args: readonly string[]): Omit<Typed, "world"> | undefined {
  for (const one of [root, ...root.commands]) {
    one.exitOverride().configureOutput(collectedOutput({ take: () => {} }));
  }
  let command = root;
  try {
    const { operands: [name], unknown } = root.parseOptions([...args]);
    if (name === undefined) return { command, operands: [] };
    const named = root.commands.find((one) => one.name() === name);
    if (named === undefined) return undefined;
    command = named;
    return { command, operands: command.parseOptions(unknown).operands };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The last of joined flags, such as -Ao.
    const flag = flagOf(command, args.at(-1)?.replace(/^-\w+(?=\w$)/, "-"));
    return flag && { command, operands: [], flag };
  }
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
  const { command, operands } = typed;
  if (command.commands.length > 0) {
    return command.commands.map((one) => `${one.name()}\t${one.summary()}`);
  }
  const [argument] = command.registeredArguments;
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return argument.argChoices;
  if (operands.length > 0 && !argument.variadic) return [];
  if (argument.name() === "workload") {
    return await namesFor(command.name() === "placement" ? "placement" : "workload", typed);
  }
  return (await namesFor("pod", typed)).filter((pod) => !operands.includes(pod));
}

/** The names; none without a cluster, as completion reports no errors. */
async function namesFor(source: string, { command, world }: Typed): Promise<readonly string[]> {
  const flags = allFlags(command) as unknown as GlobalFlags;
  const read = NAME_SOURCES[source];
  const names = async (): Promise<readonly string[]> => {
    if (source === "context") return await world.contexts(flags.kubeconfig);
    if (read === undefined) return [];
    const cluster = await world.connect(connectOptions(flags));
    return await read(cluster, flags.namespace ?? cluster.defaultNamespace);
  };
  return [...new Set(await names().catch(() => []))].sort();
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

function flagsOf(command: Command): string[] {
  const flags = command.options.map(({ long, description }) => `${long}\t${description}`);
  return [...flags, "--help\tshow the help of this command"];
}

function completionText(candidates: readonly string[], last: string): string {
  return [...candidates.filter((one) => one.startsWith(last)), NO_FILES, ""].join("\n");
}
