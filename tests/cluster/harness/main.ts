/**
 * A real Kubernetes node for tests, in a network namespace of its own.
 *
 * Exit codes: 0 done, 1 it failed or the cluster is up but not all of it ready, 2 the command line
 * was wrong, 3 asked for its status, the cluster is not up at all; `exec` gives the code of what it
 * runs.
 *
 * @module
 */
import type { BinaryFolders } from "./install/binary.ts";
import { bringDown, bringUp } from "./bring_up.ts";
import {
  awaited,
  clusterStatus,
  execExample,
  openProber,
  startComponent,
  stopComponent,
  waitForComponent,
} from "./running_component.ts";
import { componentNamed } from "./component.ts";
import { NO_PROXY } from "./daemon.ts";
import { run, runForeground, wholePath } from "./shell.ts";
import {
  DEFAULT_NAME,
  inNamespace,
  type Instance,
  instanceNamed,
  isInside,
  namespaceExists,
  readSettings,
  type Settings,
  STATE_ROOT,
} from "./instance.ts";
import { lockInstance, type Progress, seconds } from "./progress.ts";
import { loadImage } from "./install/image_archive.ts";
import { findBinaries, prepare } from "./install/prepare.ts";
import { Command as Parser, CommanderError, Option } from "commander";
import { collectedOutput } from "../../../shared/config/command_line.ts";

/** The exit code of `status` where nothing runs that could be ready. */
const NOT_UP = 3;

const print = (text: string): void => console.log(text);
// Progress goes to standard error: standard output carries the result alone.
const progress: Progress = { say: (text) => console.error(text), now: () => performance.now() };

async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args, { name: Deno.env.get("COALLOCATOR_CLUSTER") || DEFAULT_NAME });
  if (command.action === "text") {
    (command.exitCode === 0 ? console.log : console.error)(command.text.trimEnd());
    return command.exitCode;
  }
  const path = wholePath(Deno.env.get("PATH"));
  Deno.env.set("PATH", path);
  const kubeconfig = Deno.env.get("KUBECONFIG");
  if (kubeconfig && !kubeconfig.startsWith(`${STATE_ROOT}/`)) return await elsewhere(command);
  if (command.action === "binaries") {
    const binaries = await findBinaries({ folders: binaryFolders(), path, progress });
    print(Object.values(binaries).join("\n"));
    return 0;
  }
  const instance = instanceNamed(command.name);
  if (Deno.uid() !== 0) {
    throw new Error(
      `Cannot use a cluster of the harness: the user is ${Deno.uid()}, only root may; or set ` +
        "KUBECONFIG to a cluster that runs elsewhere",
    );
  }
  switch (command.action) {
    case "up":
      return await up(instance, command, path);
    case "down": {
      const began = performance.now();
      using lock = await lockInstance(instance, { progress });
      const was = await bringDown(instance, { progress });
      await lock.remove();
      // Other instances, when there are any, keep it.
      await Deno.remove(instance.stateRoot).catch(() => {});
      const took = seconds(performance.now() - began);
      print(was ? `${instance.name} is down (${took})` : `${instance.name} is not up`);
      return 0;
    }
    case "status":
      return await status(instance);
    case "exec":
      await expectUp(instance);
      return await runForeground(inNamespace(instance, withOwnDeno(command.command)), {
        ...NO_PROXY,
        KUBECONFIG: instance.kubeconfig,
        COALLOCATOR_CLUSTER: instance.name,
      });
    case "load-image":
      await expectUp(instance);
      for (const file of command.files) print((await loadImage(instance, file)).trimEnd());
      return 0;
    case "stop-component":
    case "start-component":
      return await single(instance, command);
  }
}

type Of<A extends Command["action"]> = Extract<Command, { readonly action: A }>;

/** Prepares outside of the namespace, and calls itself inside of it. */
async function up(instance: Instance, command: Of<"up">, path: string): Promise<number> {
  const began = performance.now();
  if (!command.inside) {
    using _lock = await lockInstance(instance, { progress });
    const folders = binaryFolders();
    const { cpuManager, cpuQuota } = command;
    await prepare(instance, { cpuManager, cpuQuota, folders, path, progress });
    return await again(instance, ["up", "--inside", "--name", instance.name]);
  }
  const started = await bringUp(instance, { settings: await expectUp(instance), progress, path });
  const took = seconds(performance.now() - began);
  print(
    started.length === 0
      ? `${instance.name} is up already (${took})`
      : `${instance.name} is up (${took}); started ${started.join(", ")}`,
  );
  print(`KUBECONFIG=${instance.kubeconfig} works inside the namespace:`);
  print(`  ${execExample(instance.name)}`);
  return 0;
}

async function status(instance: Instance): Promise<number> {
  if (await readSettings(instance) === undefined || !await namespaceExists(instance)) {
    print(`${instance.name} is not up; bring it up by deno task cluster:up`);
    return NOT_UP;
  }
  if (!await isInside(instance)) {
    return await again(instance, ["status", "--name", instance.name]);
  }
  const { ready, table } = await clusterStatus(instance);
  print(table);
  return ready ? 0 : 1;
}

async function single(
  instance: Instance,
  { action, component }: Of<"stop-component" | "start-component">,
): Promise<number> {
  const settings = await expectUp(instance);
  const name = componentNamed(component);
  if (action === "stop-component") {
    print(await stopComponent(instance, name) ? `${name} is stopped` : `${name} does not run`);
    return 0;
  }
  if (!await isInside(instance)) {
    return await again(instance, [action, name, "--name", instance.name]);
  }
  const started = await startComponent(instance, name, { settings });
  using prober = await openProber(instance);
  const wait = awaited(instance, name, (probe) => prober.ask(probe));
  await waitForComponent(instance, wait, { progress });
  print(started ? `${name} serves` : `${name} runs already`);
  return 0;
}

function binaryFolders(): BinaryFolders {
  return {
    cacheHome: Deno.env.get("XDG_CACHE_HOME"),
    home: Deno.env.get("HOME"),
  };
}

/** "deno" means this very one: it may be nowhere on the PATH. */
function withOwnDeno([program = "", ...args]: readonly string[]): string[] {
  return [program === "deno" ? Deno.execPath() : program, ...args];
}

/** With a cluster that is not ours: looks whether it answers, and runs what is asked for. */
async function elsewhere(command: Command): Promise<number> {
  const config = Deno.env.get("KUBECONFIG");
  if (command.action === "exec") return await runForeground(withOwnDeno(command.command), {});
  if (command.action !== "up" && command.action !== "status") {
    throw new Error(
      `Cannot run ${command.action}: KUBECONFIG is ${config}, a cluster that is not the harness's; ` +
        "unset it",
    );
  }
  try {
    await run(["kubectl", "get", "--raw", "/readyz", "--request-timeout=10s"]);
  } catch (error) {
    throw new Error(
      `Cannot reach the cluster of KUBECONFIG ${config}: ${error}; unset it to use the harness`,
      { cause: error },
    );
  }
  print(`KUBECONFIG is ${config}: that cluster is ready, nothing to start`);
  return 0;
}

async function expectUp(instance: Instance): Promise<Settings> {
  const settings = await readSettings(instance);
  if (settings !== undefined && await namespaceExists(instance)) return settings;
  throw new Error(`Cannot reach ${instance.name}: it is not up; run deno task cluster:up`);
}

/** Runs this program with other arguments inside the namespace. */
function again(instance: Instance, args: readonly string[]): Promise<number> {
  const self = [Deno.execPath(), "run", "--quiet", "--allow-all", import.meta.filename ?? ""];
  return runForeground(inNamespace(instance, [...self, ...args]), NO_PROXY);
}

/** The action and its flags, or a text and an exit code at once. */
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
  | { readonly action: "status"; readonly name: string }
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
function parseCommand(
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
    .action((options: Named) => {
      found = { action: "status", name: options.name };
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

if (import.meta.main) {
  try {
    Deno.exitCode = await main(Deno.args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    // Names that the command line gave, and that there are none of.
    Deno.exitCode = error instanceof RangeError ? 2 : 1;
  }
}
