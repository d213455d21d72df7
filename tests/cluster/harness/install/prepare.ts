/**
 * The part of `up` that runs on the machine: packages, binaries, files, the namespace.
 *
 * @module
 */
import { BINARIES, type BinaryFolders, obtainBinaries } from "./binary.ts";
import { makeCertificates, nodeFiles, type NodeOptions, writeKubeconfigs } from "../node_files.ts";
import { readIfThere } from "../daemon.ts";
import {
  type Instance,
  makeNamespace,
  readSettings,
  type Settings,
  writeSettings,
} from "../instance.ts";
import { noteTraces } from "../machine_traces.ts";
import { foreignPodProcesses, makeCgroupRoot } from "../cgroups.ts";
import { type Progress, withProgress } from "../progress.ts";
import { runningComponent, stopComponent } from "../running_component.ts";
import { findProgram, isExecutable, run } from "../shell.ts";

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
  const cniFolder = await installPackages(options);
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
  const managerChanges = before !== undefined && before.cpuManager !== settings.cpuManager;
  if (managerChanges || (before !== undefined && before.cpuQuota !== settings.cpuQuota)) {
    if (await stopComponent(instance, "kubelet")) {
      options.progress.say("kubelet is stopped, to start it with other settings");
    }
  }
  if (managerChanges) await forgetCPUPolicy(instance);
  await writeSettings(instance, settings);
}

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

/** A kubelet refuses to start with a policy other than the one that its state was written under. */
async function forgetCPUPolicy(instance: Instance): Promise<void> {
  await Deno.remove(`${instance.directory}/kubelet/cpu_manager_state`).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/** Packages by the program that shows whether they are installed. */
const PACKAGES: Readonly<Record<string, string>> = {
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

/**
 * Installs packages without starting their services: the cluster starts a containerd of its own. A file
 * of this name is asked before a package starts a service; 101 forbids it (invoke-rc.d(8)). The shell
 * removes it however it ends, and what a run that was killed has left; one of the machine's own stays.
 */
const INSTALL = `policy=/usr/sbin/policy-rc.d
grep -qs CoAllocator $policy && rm -f $policy
if [ ! -x $policy ]; then
  trap 'rm -f $policy' EXIT
  trap 'exit 130' INT TERM
  printf '#!/bin/sh\\n# CoAllocator removes it\\nexit 101\\n' > $policy
  chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q && apt-get install -q -y --no-install-recommends "$@"`;

/**
 * Installs what is missing, when `apt-get` is there; returns the folder of the pod network's
 * programs. Throws an `Error` that names the packages when they can't be installed.
 */
async function installPackages(
  { path, progress }: Pick<PrepareOptions, "path" | "progress">,
): Promise<string> {
  const missing = new Set<string>();
  for (const [program, name] of Object.entries(PACKAGES)) {
    if (await findProgram(program, path) === undefined) missing.add(name);
  }
  if (await findCNIFolder() === undefined) missing.add("containernetworking-plugins");
  const packages = [...missing].sort();
  if (packages.length > 0) {
    if (await findProgram("apt-get", path) === undefined) {
      throw new Error(
        `Cannot install ${packages.join(", ")}: there is no apt-get; install them by hand`,
      );
    }
    const about = `installing ${packages.join(" ")}`;
    await withProgress(progress, about, () => run(["sh", "-c", INSTALL, "install", ...packages]));
  }
  const found = await findCNIFolder();
  if (found !== undefined) return found;
  throw new Error(`Cannot find the pod network's programs: none in ${CNI_FOLDERS.join(", ")}`);
}

async function findCNIFolder(): Promise<string | undefined> {
  for (const folder of CNI_FOLDERS) if (await isExecutable(`${folder}/bridge`)) return folder;
  return undefined;
}
