/**
 * The part of `up` that runs on the machine: packages, binaries, files, the namespace.
 *
 * @module
 */
import { BINARIES, type BinaryFolders, obtainBinaries } from "./binary.ts";
import { makeCertificates, writeKubeconfigs } from "../certificates.ts";
import { readIfThere } from "../daemon.ts";
import { type Instance, readSettings, type Settings, writeSettings } from "../instance.ts";
import { noteTraces } from "../machine_traces.ts";
import { makeNamespace } from "../namespace.ts";
import { nodeFiles, type NodeOptions } from "../node_files.ts";
import { foreignPodProcesses, makeCgroupRoot } from "../cgroups.ts";
import { lockFile, type Progress, withProgress } from "../progress.ts";
import { runningComponent, stopComponent } from "../running_component.ts";
import { findProgram, isExecutable, run } from "../shell.ts";

/** What the command line and the environment say. */
export interface PrepareOptions {
  /** Undefined leaves it as it is, which is `none` at first. */
  readonly cpuManager: NodeOptions["cpuManager"] | undefined;
  /** Undefined leaves it as it is, which is `on` at first. */
  readonly cpuQuota: NodeOptions["cpuQuota"] | undefined;
  readonly folders: BinaryFolders;
  readonly path: string;
  readonly progress: Progress;
}

/** Makes everything ready to start components. Throws when the machine can't run the cluster. */
export async function prepare(instance: Instance, options: PrepareOptions): Promise<void> {
  const before = await readSettings(instance);
  // A running kubelet of our own has long shown whether it bears with the other one.
  if (await runningComponent(instance, "kubelet") === undefined) await refuseForeignPods(instance);
  const { stateRoot } = instance;
  const { cniFolder } = await installPackages({ ...options, stateRoot });
  const binaries = await findBinaries(options);
  for (const folder of ["run", "logs", "cni", "pod-logs"]) {
    await Deno.mkdir(`${instance.directory}/${folder}`, { recursive: true });
  }
  await noteTraces(instance);
  await makeNamespace(instance);
  await makeCgroupRoot(instance);
  const settings: Settings = {
    cpuManager: options.cpuManager ?? before?.cpuManager ?? "none",
    cpuQuota: options.cpuQuota ?? before?.cpuQuota ?? "on",
    cniFolder,
    snapshotter: before?.snapshotter ?? await snapshotterFor(instance),
    binaries,
  };
  if (await readIfThere(instance.kubeconfig) === undefined) {
    await makeCertificates(instance);
    await writeKubeconfigs(instance);
  }
  for (const [name, text] of Object.entries(nodeFiles(instance, settings))) {
    await Deno.writeTextFile(`${instance.directory}/${name}`, text);
  }
  if (before !== undefined && before.cpuManager !== settings.cpuManager) {
    await endKubelet(instance, options);
    await forgetCPUPolicy(instance);
  }
  if (before !== undefined && before.cpuQuota !== settings.cpuQuota) {
    await endKubelet(instance, options);
  }
  await writeSettings(instance, settings);
}

/** The paths of all programs of the cluster, found, downloaded or built. */
export async function findBinaries(
  options: Pick<PrepareOptions, "folders" | "path" | "progress">,
): Promise<Record<string, string>> {
  const kubectl = await findProgram("kubectl", options.path);
  const names = BINARIES.map(({ name }) => name);
  const wanted = names.filter((name) => name !== "kubectl" || kubectl === undefined);
  return {
    ...kubectl === undefined ? {} : { kubectl },
    ...Object.fromEntries(await obtainBinaries(wanted, options)),
  };
}

/** Two kubelets can't share one cgroup root: each ends what it takes for the other's orphans. */
async function refuseForeignPods(instance: Instance): Promise<void> {
  const pids = await foreignPodProcesses(instance);
  if (pids.length === 0) return;
  throw new Error(
    `Cannot bring up ${instance.name}: ${pids.length} processes run in pods under the cgroup ` +
      `root ${instance.cgroupRoot} that are not its own, so another kubelet runs here; choose ` +
      "another --name",
  );
}

/** Overlays, where the kernel and the file system can; otherwise each container copies its image. */
async function snapshotterFor({ directory }: Instance): Promise<Settings["snapshotter"]> {
  const trial = `${directory}/overlay-trial`;
  for (const part of ["lower", "upper", "work", "merged"]) {
    await Deno.mkdir(`${trial}/${part}`, { recursive: true });
  }
  const options = ["lowerdir", "upperdir", "workdir"].map((key) =>
    `${key}=${trial}/${key.replace("dir", "")}`
  );
  const merged = `${trial}/merged`;
  try {
    await run(["mount", "-t", "overlay", "overlay", "-o", options.join(","), merged]);
    await run(["umount", merged]);
    return "overlayfs";
  } catch {
    return "native";
  } finally {
    await Deno.remove(trial, { recursive: true });
  }
}

async function endKubelet(instance: Instance, { progress }: PrepareOptions): Promise<void> {
  if (await runningComponent(instance, "kubelet") === undefined) return;
  progress.say("stopping kubelet, to start it with other settings");
  await stopComponent(instance, "kubelet");
}

/** A kubelet refuses to start with a policy other than the one that its state was written under. */
async function forgetCPUPolicy(instance: Instance): Promise<void> {
  await Deno.remove(`${instance.directory}/kubelet/cpu_manager_state`).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/** Packages by the program that shows whether they are installed. */
export const PACKAGES: Readonly<Record<string, string>> = {
  containerd: "containerd",
  ctr: "containerd",
  runc: "runc",
  nft: "nftables",
  ip: "iproute2",
  openssl: "openssl",
  busybox: "busybox-static",
  // containerd forwards ports with it.
  socat: "socat",
};

/** Where distributions put the programs of the pod network. */
const CNI_FOLDERS: readonly string[] = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

const CNI_PACKAGE = "containernetworking-plugins";

/** Where programs are looked for, and what {@linkcode withoutServices} needs. */
export interface PackageOptions {
  readonly path: string;
  /** The folder of all instances. */
  readonly stateRoot: string;
  readonly progress: Progress;
}

/** The packages to install, given the programs that are missing. */
export function packagesFor(missing: readonly string[]): readonly string[] {
  return [...new Set(missing.map((program) => PACKAGES[program] ?? program))].sort();
}

/**
 * Installs what is missing, when `apt-get` is there; returns the folder of the pod network's
 * programs. Throws an `Error` that names the packages when they can't be installed.
 */
export async function installPackages(
  { path, stateRoot, progress }: PackageOptions,
): Promise<{ readonly cniFolder: string }> {
  await removeLeftPolicy({ stateRoot, progress });
  const missing: string[] = [];
  for (const program of Object.keys(PACKAGES)) {
    if (await findProgram(program, path) === undefined) missing.push(program);
  }
  const cniFolder = await findCNIFolder();
  if (cniFolder === undefined) missing.push(CNI_PACKAGE);
  const packages = packagesFor(missing);
  if (packages.length > 0) {
    if (await findProgram("apt-get", path) === undefined) {
      throw new Error(
        `Cannot install ${packages.join(", ")}: there is no apt-get; install them by hand`,
      );
    }
    // No service is started by it: the cluster starts a containerd of its own.
    const install = (): Promise<void> =>
      withoutServices(() => interruptible((signal) => aptInstall(packages, { signal })), {
        stateRoot,
        progress,
      });
    await withProgress(progress, `installing ${packages.join(" ")}`, install);
  }
  const found = cniFolder ?? await findCNIFolder();
  if (found === undefined) {
    throw new Error(`Cannot find the pod network's programs: none in ${CNI_FOLDERS.join(", ")}`);
  }
  return { cniFolder: found };
}

async function findCNIFolder(): Promise<string | undefined> {
  for (const folder of CNI_FOLDERS) if (await isExecutable(`${folder}/bridge`)) return folder;
  return undefined;
}

async function aptInstall(
  packages: readonly string[],
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const options = { env: { DEBIAN_FRONTEND: "noninteractive" }, signal };
  await run(["apt-get", "update", "-q"], options);
  await run(["apt-get", "install", "-q", "-y", "--no-install-recommends", ...packages], options);
}

/** Where the policy is, and the lock against concurrent runs. */
export interface PolicyOptions {
  /** The folder of all instances, with the lock of the run that has written a policy. */
  readonly stateRoot: string;
  readonly progress: Progress;
  /** @default {"/usr/sbin/policy-rc.d"} */
  readonly file?: string;
}

/** Asked before a package starts a service; 101 forbids it. Source: invoke-rc.d(8). */
const FILE = "/usr/sbin/policy-rc.d";

/**
 * By this line a policy that a run which was killed left behind is distinguished from the machine's
 * own.
 */
const MARKER = "# CoAllocator's test cluster wrote this and removes it";

/** No instance can have this name. */
const LOCK = "_packages.lock";

/** Does something while no service may be started. A policy of the machine's own stays as it is. */
export async function withoutServices<T>(
  action: () => Promise<T>,
  { stateRoot, progress, file = FILE }: PolicyOptions,
): Promise<T> {
  using lock = await lockFile(`${stateRoot}/${LOCK}`, { progress });
  try {
    await removeMarked(file);
    if (!await isExecutable(file)) {
      const text = `#!/bin/sh\n${MARKER}\nexit 101\n`;
      await Deno.writeTextFile(file, text, { mode: 0o755, createNew: true });
    }
    return await action();
  } finally {
    await removeMarked(file);
    await lock.remove();
  }
}

/** Removes what a run that was killed during {@linkcode withoutServices} left behind. */
export async function removeLeftPolicy(
  { stateRoot, progress, file = FILE }: PolicyOptions,
): Promise<void> {
  const path = `${stateRoot}/${LOCK}`;
  if (await readIfThere(path) === undefined && !await isMarked(file)) return;
  using lock = await lockFile(path, { progress });
  await removeMarked(file);
  await lock.remove();
}

async function isMarked(file: string): Promise<boolean> {
  return (await readIfThere(file) ?? "").split("\n").includes(MARKER);
}

async function removeMarked(file: string): Promise<void> {
  if (await isMarked(file)) await Deno.remove(file);
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs an action during which SIGINT and SIGTERM end nothing by themselves: they abort the signal
 * that the action is given, which is to come to its end soon. Throws an `Error` that names the
 * signal when one came, whatever the action's outcome.
 */
export async function interruptible<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const listeners = SIGNALS.map((name) => ({
    name,
    listener: (): void => controller.abort(new Error(`Cannot go on: ${name} came`)),
  }));
  for (const { name, listener } of listeners) Deno.addSignalListener(name, listener);
  try {
    const result = await action(controller.signal);
    controller.signal.throwIfAborted();
    return result;
  } catch (error) {
    // How the action failed is a consequence.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    for (const { name, listener } of listeners) Deno.removeSignalListener(name, listener);
  }
}
