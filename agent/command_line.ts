/**
 * The agent's command line.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { type AgentConfig, agentConfig, type AgentFlags, DEFAULT_CGROUP_ROOT } from "./config.ts";

/** What a command line asks for: a run, or a text and an exit code at once. */
export type Request =
  | { readonly config: AgentConfig }
  | { readonly exitCode: 0 | 2; readonly text: string };

const SEE_HELP = "see deno task agent --help";

/**
 * Parses the arguments without the program's name. Never throws for what a user may type. One `--`
 * at the start is passed over: `deno task agent -- --once` hands it on.
 */
export function parseCommandLine(args: readonly string[]): Request {
  let text = "";
  const program = new Command("agent")
    .description("Reads the cgroups of this node's pods: what they use and what holds them back.")
    .option("--once", "look twice, print what lies between the looks, and end (the default)")
    .option("--cgroup-root <dir>", "where the host's /sys/fs/cgroup is", DEFAULT_CGROUP_ROOT)
    .option("--interval <duration>", "time between the two looks, 10ms to 1m", "250ms")
    .option("--cores <n>", "CPUs of the node (default: as the cgroups tell)")
    .option("--json", "print JSON instead of a table")
    .exitOverride()
    .configureOutput({
      writeOut: (part) => text += part,
      writeErr: () => {},
      // Without these, the library asks the environment, which the agent may not read.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    });
  try {
    program.parse(args[0] === "--" ? args.slice(1) : args, { from: "user" });
    return { config: agentConfig(program.opts<AgentFlags>()) };
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return { exitCode: 0, text };
      return usageError(`Cannot run the agent: ${error.message.replace(/^error: /, "")}`);
    }
    if (error instanceof RangeError || error instanceof SyntaxError) {
      return usageError(error.message);
    }
    throw error;
  }
}

/** One line, whatever the parser's message looks like. */
function usageError(message: string): Request {
  const sentence = message.trim().replaceAll(/\s*\n\s*/g, " ").replace(/\.$/, "");
  return { exitCode: 2, text: `${sentence}; ${SEE_HELP}\n` };
}
