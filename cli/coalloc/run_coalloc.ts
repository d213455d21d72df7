/**
 * From arguments to an exit code: reads the command line, connects, runs the command.
 *
 * Exit codes: 0 done, 1 the command could not do all of it, 2 the command line was wrong.
 *
 * @module
 */
import { CommanderError } from "commander";
import { ApiError } from "../../shared/api/api_error.ts";
import { wantsColor } from "../terminal/paint.ts";
import { explainApiError } from "./api_problem.ts";
import { coallocCommand } from "./coalloc_command.ts";
import { type CommandContext, CommandProblem } from "./command_context.ts";
import { complete } from "./completion/complete.ts";
import { completionNames } from "./completion/completion_names.ts";
import { COMPLETION_SHELLS, completionScript } from "./completion/completion_script.ts";
import { explainCommand } from "./explain/explain_command.ts";
import type { GlobalFlags } from "./global_flags.ts";
import { podWord } from "./pod_word.ts";
import type { CoallocWorld, PodName } from "./ports.ts";
import type { LimitWish } from "./resize/limit_wish.ts";
import { resizeCommand } from "./resize/resize_command.ts";
import { restoreCommand } from "./restore/restore_command.ts";
import type { RestoreTarget } from "./restore/switch_off.ts";
import { topCommand } from "./top/top_command.ts";
import type { TopOrder } from "./top/top_view.ts";
import { versionCommand } from "./version_command.ts";

/** A command as the command line names it. */
interface Call {
  readonly name: string;
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
}

const SEE_HELP = "see kubectl coalloc --help";

/** Runs the program; resolves with its exit code. Rejects only for a fault of the program. */
export async function runCoalloc(args: readonly string[], world: CoallocWorld): Promise<number> {
  if (args[0] === "__complete") {
    const names = completionNames(world, args.slice(1));
    world.out(await complete(coallocCommand(() => {}), { words: args.slice(1), names }));
    return 0;
  }
  const parsed = parse(args);
  if ("text" in parsed) {
    (parsed.exitCode === 0 ? world.out : world.err)(parsed.text);
    return parsed.exitCode;
  }
  try {
    return await run(parsed, world);
  } catch (error) {
    if (error instanceof UsageProblem) {
      world.err(`${error.message}; ${SEE_HELP}\n`);
      return 2;
    }
    const sentence = sentenceOf(error, parsed.name);
    if (sentence === undefined) throw error;
    world.err(`${sentence}\n`);
    return 1;
  }
}

/** What is wrong with the command line beyond single flags. */
class UsageProblem extends Error {
  override readonly name = "UsageProblem";
}

function parse(
  args: readonly string[],
): Call | { readonly text: string; readonly exitCode: 0 | 2 } {
  let text = "";
  let call: Call | undefined;
  const root = coallocCommand((name, { words, flags }) => {
    call = { name, words, flags };
  });
  for (const command of [root, ...root.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (part) => text += part,
      writeErr: () => {},
      // Without these the library asks the environment.
      getOutHelpWidth: () => 96,
      getErrHelpWidth: () => 96,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  }
  // Task runners hand a "--" on.
  const words = args[0] === "--" ? args.slice(1) : args;
  if (words.length === 0) return { text: root.helpInformation(), exitCode: 0 };
  try {
    root.parse([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { text, exitCode: 0 };
    const sentence = error.message.replace(/^error: /, "").trim().replaceAll(/\s*\n\s*/g, " ");
    return {
      text: `Cannot run kubectl coalloc: ${sentence.replace(/\.$/, "")}; ${SEE_HELP}\n`,
      exitCode: 2,
    };
  }
  return call ?? { text: root.helpInformation(), exitCode: 0 };
}

async function run(call: Call, world: CoallocWorld): Promise<number> {
  const { name, words, flags } = call;
  if (name === "completion") {
    const shell = COMPLETION_SHELLS.find((one) => one === words[0]);
    if (shell !== undefined) world.out(completionScript(shell));
    return 0;
  }
  const context = await contextOf(flags as unknown as GlobalFlags, world);
  const timeoutMs = Number(flags.timeout);
  const dryRun = flags.dryRun === true;
  switch (name) {
    case "top":
      return await topCommand({
        pods: words,
        sort: flags.sort as TopOrder,
        ...(flags.node === undefined ? {} : { node: String(flags.node) }),
        ...(typeof flags.watch === "number" ? { watchMs: flags.watch } : {}),
      }, context);
    case "explain":
      return await explainCommand({
        pod: podNameOf(words[0], context),
        ...(flags.container === undefined ? {} : { container: String(flags.container) }),
      }, context);
    case "restore": {
      const target = restoreTarget(call, context);
      const yes = flags.yes === true;
      return await restoreCommand({ target, dryRun, yes, timeoutMs }, context);
    }
    case "resize": {
      const pod = podNameOf(words[0], context);
      const wishes = flags.cpuLimit as readonly LimitWish[];
      return await resizeCommand({ pod, wishes, dryRun, timeoutMs }, context);
    }
    default:
      return await versionCommand(context);
  }
}

async function contextOf(flags: GlobalFlags, world: CoallocWorld): Promise<CommandContext> {
  const { namespace, allNamespaces, kubeconfig, context, output = "table", color } = flags;
  const cluster = await world.connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const { outIsTerminal: isTerminal, noColor } = world;
  // Output that is no terminal has no width: whoever reads it cuts the lines.
  const width = isTerminal ? { columns: world.size().columns } : {};
  return {
    cluster,
    world,
    namespace: allNamespaces
      ? { all: true }
      : { all: false, name: namespace ?? cluster.defaultNamespace },
    output,
    look: { ...width, color: color && wantsColor({ isTerminal, noColor }) },
  };
}

function podNameOf(word: string | undefined, { namespace, cluster }: CommandContext): PodName {
  const pod = podWord(word ?? "");
  if (pod === undefined) throw new UsageProblem(`Cannot find pod: "${word}" is no name of a pod`);
  const usual = namespace.all ? cluster.defaultNamespace : namespace.name;
  return { namespace: pod.namespace ?? usual, name: pod.name };
}

/** One of a pod, a named namespace, all: nobody should lose a namespace to a forgotten word. */
function restoreTarget({ words, flags }: Call, context: CommandContext): RestoreTarget {
  const [word] = words;
  const all = flags.all === true || flags.allNamespaces === true;
  if (word !== undefined && all) {
    throw new UsageProblem(`Cannot restore: pod "${word}" and --all exclude each other`);
  }
  if (word !== undefined) return { kind: "pod", pod: podNameOf(word, context) };
  if (all && flags.namespace !== undefined) {
    throw new UsageProblem("Cannot restore: --namespace and --all exclude each other");
  }
  if (all) return { kind: "all" };
  if (flags.namespace === undefined) {
    throw new UsageProblem("Cannot restore: name a pod, or give -n NAMESPACE or --all");
  }
  return { kind: "namespace", namespace: String(flags.namespace) };
}

/** What to tell the user; undefined for a fault of the program. */
function sentenceOf(error: unknown, action: string): string | undefined {
  if (error instanceof ApiError) return explainApiError(`run ${action}`, error);
  if (error instanceof CommandProblem) return error.message;
  // Kubeconfig files that can't be read or understood are errors of these classes.
  const known = error instanceof Deno.errors.NotFound || error instanceof SyntaxError ||
    error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied ||
    ((error instanceof TypeError || error instanceof RangeError) &&
      error.message.startsWith("Cannot "));
  if (!known || !(error instanceof Error)) return undefined;
  return error.message.startsWith("Cannot ")
    ? error.message
    : `Cannot run ${action}: ${error.message}`;
}
