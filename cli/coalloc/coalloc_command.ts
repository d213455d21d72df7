/**
 * The command line of `kubectl coalloc`: commands, flags and their help.
 *
 * @module
 */
import { Argument, Command, CommanderError, Option } from "commander";
import { COMPLETION_SCRIPTS } from "./completion/completion_script.ts";
import {
  addGlobalFlags,
  examples,
  selectorOption,
  timeoutOption,
  watchOption,
} from "./global_flags.ts";
import { dashboardArguments } from "./dashboard/dashboard_command.ts";
import { doctorArguments } from "./doctor/doctor_command.ts";
import { placementArguments } from "./placement/placement_command.ts";
import { recommendArguments } from "./recommend/choose_workloads.ts";
import { REPORT_FORMATS, reportArguments } from "./report/report_command.ts";
import { limitRequestParser } from "./resize/limit_request.ts";
import { simulateArguments } from "./simulate/simulate_arguments.ts";
import { OUTPUT_FORMATS, TABLE_FORMATS } from "./output.ts";
import { TOP_ORDERS } from "../../shared/view/top_view.ts";
import { VERSION } from "../../shared/version.ts";
import { collectedOutput } from "../../shared/config/command_line.ts";

/** The program's purpose, in a sentence. */
const DESCRIPTION =
  "Shows how a node's CPU market divides CPU among pods, explains a pod's limit, " +
  "gives pods their original limits back, shows what workloads should request and where their replicas " +
  "run, and simulates what would have happened to a recorded load.";

/** A command as the command line names it. */
export interface Call {
  readonly name: string;
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
}

/** The command, with its subcommands; parsing it calls `handle`. */
export function coallocCommand(handle: (call: Call) => void): Command {
  const root = new Command("kubectl-coalloc").usage("[flags] [command] [flags]")
    .description(DESCRIPTION).helpOption("-h, --help", "show this text")
    .helpCommand("help [command]", "show the help of a command")
    .version(`kubectl-coalloc ${VERSION}`, "--version", "show the version of this program")
    // Flags before the command belong to the program, flags after it to the command.
    .enablePositionalOptions();
  addGlobalFlags(root);
  for (
    const [command, formats] of [
      [top(), TABLE_FORMATS],
      [explain(), OUTPUT_FORMATS],
      [restore(), OUTPUT_FORMATS],
      [resize(), OUTPUT_FORMATS],
      [version(), OUTPUT_FORMATS],
      [recommendArguments(), [...TABLE_FORMATS, "patch"]],
      [placementArguments(), TABLE_FORMATS],
      [doctorArguments(), OUTPUT_FORMATS],
      [reportArguments(), REPORT_FORMATS],
      [dashboardArguments(), OUTPUT_FORMATS],
    ] as const
  ) root.addCommand(withHandler(addGlobalFlags(command, formats), handle));
  root.addCommand(withHandler(simulateArguments(), handle));
  root.addCommand(withHandler(completion(), handle));
  return root;
}

/** All flags of the call; a flag after the command takes precedence over the same one before it. */
export function allFlags(command: Command): Readonly<Record<string, unknown>> {
  const typed = (one: Command): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(one.opts()).filter(([name]) => one.getOptionValueSource(name) !== "default"),
    );
  const before = command.parent === null ? {} : typed(command.parent);
  return { ...command.opts(), ...before, ...typed(command) };
}

function withHandler(command: Command, handle: (call: Call) => void): Command {
  return command.allowExcessArguments(false).helpOption("-h, --help", "show this text").action(
    () => handle({ name: command.name(), operands: command.args, flags: allFlags(command) }),
  );
}

function top(): Command {
  return new Command("top")
    .summary("live table of the pods in the market")
    .argument("[pods...]", "these pods only")
    .description(
      "Live table of the pods in the market: usage, demand, limit, throttling, price and the\n" +
        "reason of the limit. Read from the agents; without them from the PodAllocations.",
    )
    .addOption(watchOption("pods"))
    .addOption(
      new Option("--sort <figure>", "largest first").choices(TOP_ORDERS).default("throttled"),
    )
    .option("--node <name>", "pods of this node only")
    .addOption(selectorOption("pods"))
    .addHelpText(...examples([
      ["kubectl coalloc top -A", "all pods in the market"],
      ["kubectl coalloc top -n shop --watch=1s", "follow one namespace"],
      ["kubectl coalloc top -A --sort demand -o wide", "with original limits and bounds"],
      ["kubectl coalloc top -A -o json", "for programs"],
    ]));
}

function explain(): Command {
  return new Command("explain")
    .summary("why a pod's limit is what it is")
    .argument("[pod]", "the pod, or namespace/pod")
    .description(
      "The path from readings to limit, step by step, and what blocks the pod;\n" +
        "for a pod outside the market, why it is and how to bring it in.",
    )
    .option("-c, --container <name>", "this container only")
    .addOption(selectorOption("pods"))
    .addHelpText(...examples([
      ["kubectl coalloc explain web-0 -n shop", "as text"],
      ["kubectl coalloc explain web-0 -c app -o yaml", "one container, as data"],
    ]));
}

function restore(): Command {
  return new Command("restore")
    .summary("out of the market, original limits back")
    .argument("[pod]", "the pod, or namespace/pod")
    .description(
      "Takes pods out of the market and gives them their original limits back: one pod, those with\n" +
        "some labels (-l), a namespace (-n without a pod), or all (--all). Works without a controller. Can be repeated.",
    )
    .option("--all", "all pods of the cluster: switches the market off")
    .addOption(selectorOption("pods"))
    .option("--dry-run", "show what would be done, and do nothing")
    .option("-y, --yes", "don't ask")
    .addOption(timeoutOption("the kubelets", 60))
    .addHelpText(...examples([
      ["kubectl coalloc restore web-0 -n shop", "one pod"],
      ["kubectl coalloc restore -n shop --dry-run", "what a whole namespace would get"],
      ["kubectl coalloc restore --all --yes", "before uninstalling"],
    ]));
}

function resize(): Command {
  return new Command("resize")
    .summary("CPU limits by hand, without a restart")
    .argument("[pod]", "the pod, or namespace/pod")
    .description(
      "Sets CPU limits of a running pod by hand, without a restart. In the market, the value is\n" +
        "the container's new original limit, and the market goes on from there.",
    )
    .addOption(
      new Option(
        "--cpu-limit <[container=]quantity>",
        "for instance 500m or app=1.5; may be repeated",
      )
        .argParser(limitRequestParser).makeOptionMandatory(),
    )
    .addOption(selectorOption("pods"))
    .option("--dry-run", "check, and change nothing")
    .addOption(timeoutOption("the kubelet", 30))
    .addHelpText(...examples([
      ["kubectl coalloc resize web-0 --cpu-limit 500m", "a pod with one container"],
      [
        "kubectl coalloc resize web-0 --cpu-limit app=2 --cpu-limit proxy=100m",
        "several containers",
      ],
    ]));
}

function version(): Command {
  return new Command("version").summary("versions of client, server and controller").description(
    "Versions of this program, of the API server and of the controller.",
  );
}

function completion(): Command {
  return new Command("completion").summary("print a completion script")
    .addArgument(new Argument("<shell>", "the shell of the script").choices(
      Object.keys(COMPLETION_SCRIPTS),
    ))
    .description(
      "Prints a completion script. `kubectl` prints the file kubectl_complete-coalloc, which makes\n" +
        "kubectl's own completion complete `kubectl coalloc …`.",
    )
    .addHelpText(...examples([
      ["source <(kubectl-coalloc completion bash)", "in this shell"],
      ['kubectl-coalloc completion zsh > "${fpath[1]}/_kubectl-coalloc"', "in every zsh"],
      [
        "kubectl-coalloc completion kubectl > ~/bin/kubectl_complete-coalloc",
        "for kubectl's completion; then chmod +x it",
      ],
    ]));
}

/** The answer to print instead of running a command: help, a version, or an error in the arguments. */
export interface PlainAnswer {
  readonly text: string;
  readonly exitCode: 0 | 2;
}

/** Names the help of a command, or without a name of the program. */
export function seeHelp(name?: string): string {
  return `see ${programOf(name)} --help`;
}

function programOf(name?: string): string {
  return name === undefined ? "kubectl coalloc" : `kubectl coalloc ${name}`;
}

/** Reads the command line; the answer is the help without arguments. */
export function readCommandLine(args: readonly string[]): Call | PlainAnswer {
  let text = "";
  let call: Call | undefined;
  const root = coallocCommand((one) => {
    call = one;
  });
  let failed: string | undefined;
  for (const command of [root, ...root.commands]) {
    command.exitOverride((error) => {
      failed = command === root ? undefined : command.name();
      throw error;
    }).configureOutput(collectedOutput({ take: (part) => text += part }));
  }
  // Task runners pass on a "--".
  const tokens = args[0] === "--" ? args.slice(1) : args;
  if (tokens.length === 0) return { text: root.helpInformation(), exitCode: 0 };
  try {
    root.parse([...tokens], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { text, exitCode: 0 };
    const sentence = sentenceOf(error, root.args);
    const problem = `Cannot run ${programOf(failed)}: ${sentence}; ${seeHelp(failed)}\n`;
    return { text: problem, exitCode: 2 };
  }
  return call ?? { text: root.helpInformation(), exitCode: 0 };
}

function sentenceOf({ code, message }: CommanderError, tokens: readonly string[]): string {
  // For flags alone, and for help on an unknown command, the library throws the help.
  if (code === "commander.help") {
    const [, topic] = tokens;
    return topic === undefined ? "no command is named" : `unknown command '${topic}'`;
  }
  return message.replace(/^error: /, "").trim().replaceAll(/\s*\n\s*/g, " ").replace(/\.$/, "");
}
