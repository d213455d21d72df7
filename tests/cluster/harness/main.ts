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

/** The exit code of `status` where nothing runs that could be ready. */
const NOT_UP = 3;
/** Its exit code where the cluster is up and none of its programs runs: a killed run left it. */
const NOTHING_RUNS = 4;

const print = (text: string): void => console.log(text);
// Progress goes to standard error: standard output carries the result alone.
const progress: Progress = { say: (text) => console.error(text), now: () => performance.now() };

interface Named {
  readonly name: string;
}

interface UpFlags extends Named {
  readonly cpuManager?: "none" | "static";
  readonly cpuQuota?: "on" | "off";
  /** Set when the harness runs itself inside the namespace. */
  readonly inside?: true;
}

const ABOUT = `A real Kubernetes node for tests, in a network namespace of its own.

With KUBECONFIG set to another cluster, up only looks whether that one answers, and exec runs the
command against it.`;

async function main(args: readonly string[]): Promise<number> {
  const path = wholePath(Deno.env.get("PATH"));
  Deno.env.set("PATH", path);
  let exitCode = 2;
  const program = new Parser("harness").description(ABOUT).enablePositionalOptions()
    .exitOverride();
  const named = (usage: string, about: string): Parser =>
    program.command(usage).description(about).option(
      "--name <instance>",
      "which cluster; several can run side by side",
      Deno.env.get("COALLOCATOR_CLUSTER") || DEFAULT_NAME,
    );

  named("up", "bring the cluster up; what runs already is left running")
    .addOption(
      new Option("--cpu-manager <policy>", "the kubelet's; a change restarts it")
        .choices(["none", "static"]),
    )
    .addOption(
      new Option("--cpu-quota <switch>", "whether the kubelet enforces CPU limits; as above")
        .choices(["on", "off"]),
    )
    .addOption(new Option("--inside").hideHelp())
    .action(async (flags: UpFlags) => {
      exitCode = foreignConfig() === undefined
        ? await up(ownInstance(flags), flags, path)
        : await lookElsewhere();
    });
  named("down", "end the cluster and remove all that it made")
    .action(async (flags: Named) => void (exitCode = await down(ownInstance(flags))));
  program.command("binaries").description("find, download or build what up needs, and nothing else")
    .action(async () => {
      refuseForeign();
      const binaries = await findBinaries({ folders: binaryFolders(), path, progress });
      print(Object.values(binaries).join("\n"));
      exitCode = 0;
    });
  named(
    "status",
    "what runs; exit code 1 when not all is ready, 3 when it is not up at all, 4 when nothing of it runs",
  )
    .action(async (flags: Named) => {
      exitCode = foreignConfig() === undefined
        ? await status(ownInstance(flags))
        : await lookElsewhere();
    });
  named("exec", "run a command inside the namespace with KUBECONFIG set: exec -- kubectl get nodes")
    .argument("<command...>")
    .passThroughOptions()
    .action(async (command: string[], flags: Named) =>
      void (exitCode = await exec(command, flags))
    );
  named("load-image", "import image archives: load-image image.tar")
    .argument("<tar...>")
    .action(async (files: string[], flags: Named) => {
      const instance = ownInstance(flags);
      await expectUp(instance);
      for (const file of files) print((await loadImage(instance, file)).trimEnd());
      exitCode = 0;
    });
  for (const action of ["stop-component", "start-component"] as const) {
    named(action, `${action.replace("-component", "")} one component, for tests of faults`)
      .argument("<component>")
      .action(async (component: string, flags: Named) => {
        exitCode = await single(ownInstance(flags), action, component);
      });
  }
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}

/** KUBECONFIG where it leads to a cluster that is not the harness's. */
function foreignConfig(): string | undefined {
  const config = Deno.env.get("KUBECONFIG");
  return config && !config.startsWith(`${STATE_ROOT}/`) ? config : undefined;
}

function refuseForeign(): void {
  const config = foreignConfig();
  if (config === undefined) return;
  throw new Error(`Cannot act on the cluster of KUBECONFIG ${config}: unset it`);
}

function ownInstance({ name }: Named): Instance {
  refuseForeign();
  const instance = instanceNamed(name);
  if (Deno.uid() === 0) return instance;
  throw new Error(
    `Cannot use a cluster of the harness: the user is ${Deno.uid()}, only root may; or set ` +
      "KUBECONFIG to a cluster that runs elsewhere",
  );
}

async function down(instance: Instance): Promise<number> {
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

async function exec([program = "", ...args]: readonly string[], flags: Named): Promise<number> {
  // "deno" means this very one: it may be nowhere on the PATH.
  const command = [program === "deno" ? Deno.execPath() : program, ...args];
  if (foreignConfig() !== undefined) return await runForeground(command, {});
  const instance = ownInstance(flags);
  await expectUp(instance);
  return await runForeground(inNamespace(instance, command), {
    ...NO_PROXY,
    KUBECONFIG: instance.kubeconfig,
    COALLOCATOR_CLUSTER: instance.name,
  });
}

/** Prepares outside of the namespace, and calls itself inside of it. */
async function up(instance: Instance, flags: UpFlags, path: string): Promise<number> {
  const began = performance.now();
  if (!flags.inside) {
    using _lock = await lockInstance(instance, { progress });
    const folders = binaryFolders();
    const { cpuManager, cpuQuota } = flags;
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
  const { ready, running, table } = await clusterStatus(instance);
  print(table);
  return ready ? 0 : running ? 1 : NOTHING_RUNS;
}

async function single(instance: Instance, action: string, component: string): Promise<number> {
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

/** With a cluster that is not ours: whether it answers. */
async function lookElsewhere(): Promise<number> {
  const config = foreignConfig();
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

if (import.meta.main) {
  try {
    Deno.exitCode = await main(Deno.args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    // Names that the command line gave, and that there are none of.
    Deno.exitCode = error instanceof RangeError ? 2 : 1;
  }
}
