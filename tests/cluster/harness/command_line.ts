/**
 * The harness's command line.
 *
 * @module
 */
import { Command as Parser, CommanderError, Option } from "commander";
import { collectedOutput } from "../../../shared/config/command_line.ts";

/** What is asked for, or a text and an exit code at once. */
export type Command =
  | {
    readonly action: "up";
    readonly name: string;
    readonly cpuManager: "none" | "static" | undefined;
    readonly cpuQuota: "on" | "off" | undefined;
    /** The harness calls itself so inside the namespace. */
    readonly inside: boolean;
  }
  | { readonly action: "down"; readonly name: string }
  | { readonly action: "binaries" }
  | { readonly action: "status"; readonly name: string; readonly json: boolean }
  | { readonly action: "exec"; readonly name: string; readonly command: readonly string[] }
  | { readonly action: "load-image"; readonly name: string; readonly files: readonly string[] }
  | {
    readonly action: "stop-component" | "start-component";
    readonly name: string;
    readonly component: string;
  };

/** A text to print, and the exit code to end with. */
export interface Text {
  readonly action: "text";
  readonly text: string;
  readonly exitCode: 0 | 2;
}

interface Named {
  readonly name: string;
}

interface KubeletSwitches {
  readonly cpuManager?: "none" | "static";
  readonly cpuQuota?: "on" | "off";
}

const ABOUT = `A real Kubernetes node for tests, in a network namespace of its own.

With KUBECONFIG set to another cluster, up only looks whether that one answers, and exec runs the
command against it.`;

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommand(
  args: readonly string[],
  { name }: { readonly name: string },
): Command | Text {
  let text = "";
  let found: Command | undefined;
  const program = new Parser("harness")
    .description(ABOUT)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part, complaints: true }));
  const sub = (usage: string, about: string): Parser =>
    program.command(usage).description(about)
      .option("--name <instance>", "which cluster; several can run side by side", name);

  sub("up", "bring the cluster up; what runs already is left running")
    .addOption(
      new Option("--cpu-manager <policy>", "the kubelet's; a change restarts it")
        .choices(["none", "static"]),
    )
    .addOption(
      new Option("--cpu-quota <switch>", "whether the kubelet enforces CPU limits; as above")
        .choices(["on", "off"]),
    )
    .addOption(new Option("--inside").hideHelp())
    .action((options: Named & KubeletSwitches & { inside?: true }) => {
      const { name, cpuManager, cpuQuota, inside = false } = options;
      found = { action: "up", name, cpuManager, cpuQuota, inside };
    });
  sub("down", "end the cluster and remove all that it made")
    .action((options: Named) => {
      found = { action: "down", name: options.name };
    });
  program.command("binaries")
    .description("find, download or build what up needs, and nothing else")
    .action(() => {
      found = { action: "binaries" };
    });
  sub("status", "what runs; exit code 1 when not all is ready, 3 when it is not up at all")
    .option("--json", "as JSON", false)
    .action((options: Named & { json: boolean }) => {
      found = { action: "status", ...options };
    });
  sub("exec", "run a command inside the namespace with KUBECONFIG set: exec -- kubectl get nodes")
    .argument("<command...>")
    .passThroughOptions()
    .action((command: string[], options: Named) => {
      found = { action: "exec", name: options.name, command };
    });
  sub("load-image", "import image archives: load-image image.tar")
    .argument("<tar...>")
    .action((files: string[], options: Named) => {
      found = { action: "load-image", name: options.name, files };
    });
  for (const action of ["stop-component", "start-component"] as const) {
    sub(action, `${action.replace("-component", "")} one component, for tests of faults`)
      .argument("<component>")
      .action((component: string, options: Named) => {
        found = { action, name: options.name, component };
      });
  }
  try {
    program.parse([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { action: "text", text, exitCode: error.exitCode === 0 ? 0 : 2 };
  }
  return found ?? { action: "text", text: program.helpInformation(), exitCode: 2 };
}
