/**
 * From arguments to an exit code: reads the command line, connects, runs the command.
 *
 * Exit codes: 0 done, 1 the command could not do all of it, 2 the command line was wrong, 130 the user
 * has ended it, 141 its output is no longer read.
 *
 * @module
 */
import { defined } from "../../shared/defined.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import {
  printableText,
  type TerminalStyle,
  textLines,
  wantsColor,
} from "../terminal/terminal_text.ts";
import { explainApiError } from "./api_problem.ts";
import { checkedCommand, UsageProblem } from "./checked_command.ts";
import { type Call, coallocCommand, readCommandLine, seeHelp } from "./coalloc_command.ts";
import type { CoallocWorld, CommandContext, CommandWorld } from "./ports.ts";
import { complete } from "./completion/complete.ts";
import { COMPLETION_SCRIPTS } from "./completion/completion_script.ts";
import { connectOptions, type GlobalFlags, INTERRUPTED, NO_READER } from "./global_flags.ts";
import { asksForPolicy, policyRequest, simulateRequest } from "./simulate/simulate_arguments.ts";
import { clientVersion } from "./version_command.ts";

/** Runs the program; resolves with its exit code. Rejects only for a fault of the program. */
export async function runCoalloc(args: readonly string[], world: CoallocWorld): Promise<number> {
  try {
    return await answer(args, printableWorld(world));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return NO_READER;
    throw error;
  }
}

async function answer(args: readonly string[], world: CommandWorld): Promise<number> {
  if (args[0] === "__complete") {
    world.out(await complete(coallocCommand(() => {}), { args: args.slice(1), world }));
    return 0;
  }
  const line = readCommandLine(args);
  if ("text" in line) {
    (line.exitCode === 0 ? world.out : world.err)(line.text);
    return line.exitCode;
  }
  try {
    return await run(line, world);
  } catch (error) {
    if (error instanceof UsageProblem) {
      world.err(textLines([`${error.message}; ${seeHelp(line.name)}`]));
      return 2;
    }
    const sentence = sentenceOf(error, line.name);
    if (sentence === undefined) throw error;
    // Ctrl-C aborts requests, so that the error says nothing about the cluster.
    if (world.signal.aborted) return INTERRUPTED;
    world.err(textLines([sentence]));
    return 1;
  }
}

async function run(call: Call, world: CommandWorld): Promise<number> {
  const { name, operands, flags } = call;
  if (name === "completion") {
    world.out(COMPLETION_SCRIPTS[operands[0] ?? ""] ?? "");
    return 0;
  }
  if (name === "simulate") return await simulate(flags, world);
  const command = checkedCommand(call);
  const global = flags as unknown as GlobalFlags;
  try {
    return await command(await contextOf(global, world));
  } catch (error) {
    // As kubectl does: the client's version needs no cluster.
    if (name === "version" && !world.signal.aborted) world.out(clientVersion(global.output));
    throw error;
  }
}

/** Needs no cluster. Its code is loaded here, since other commands do not need it. */
async function simulate(flags: Call["flags"], world: CommandWorld): Promise<number> {
  const context = { world, style: styleOf(flags as unknown as GlobalFlags, world) };
  if (asksForPolicy(flags)) {
    const request = policyRequest(flags);
    if (typeof request === "string") throw new UsageProblem(request);
    const { simulatePolicy } = await import("./simulate/simulate_policy.ts");
    return await simulatePolicy(request, context);
  }
  const request = simulateRequest(flags);
  if (typeof request === "string") throw new UsageProblem(request);
  if (request.output === "html" && world.outIsTerminal) {
    throw new UsageProblem("Cannot show a page in a terminal: write --html > page.html");
  }
  const { simulateCommand } = await import("./simulate/simulate_command.ts");
  return await simulateCommand(request, context);
}

async function contextOf(flags: GlobalFlags, world: CommandWorld): Promise<CommandContext> {
  const { namespace, allNamespaces, output = "table" } = flags;
  const cluster = await world.connect(connectOptions(flags));
  return {
    cluster,
    world,
    namespace: allNamespaces
      ? { all: true }
      : { all: false, name: namespace ?? cluster.defaultNamespace },
    ...defined({ selector: flags.selector }),
    output,
    style: styleOf(flags, world),
  };
}

function styleOf({ color }: GlobalFlags, world: CoallocWorld): TerminalStyle {
  const { outIsTerminal: isTerminal, noColor } = world;
  // Output other than a terminal has no width: its reader cuts the lines.
  const width = isTerminal ? { columns: world.size().columns } : {};
  return { ...width, color: color && wantsColor({ isTerminal, noColor }) };
}

/** The message for the user; undefined for a fault of the program. */
function sentenceOf(error: unknown, action: string): string | undefined {
  if (error instanceof ApiError) return explainApiError(`run ${action}`, error);
  return error instanceof Error && error.message.startsWith("Cannot ") ? error.message : undefined;
}

/** Cursor to the first place; end of line cleared; rest of the screen cleared (ECMA-48, 8.3). */
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[2J";

/** The world; its texts have no escape sequences but this program's colours and screens. */
function printableWorld(world: CoallocWorld): CommandWorld {
  const color = wantsColor({ isTerminal: world.outIsTerminal, noColor: world.noColor });
  const printed: Pick<CommandWorld, "out" | "err" | "progress" | "draw"> = {
    out: (text) => world.out(printableText(text, { color })),
    err: (text) => world.err(printableText(text, { color })),
    progress: world.err,
    draw(text, { first }) {
      const lines = printableText(text, { color }).replaceAll("\n", `${CLEAR_LINE}\n`);
      world.out(`${first ? CLEAR_ALL : ""}${HOME}${lines}${CLEAR_BELOW}`);
    },
  };
  return Object.setPrototypeOf(printed, world);
}
