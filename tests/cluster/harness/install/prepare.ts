/**
 * The part of `up` that runs on the machine: packages, binaries, files, the namespace.
 *
 * @module
 */
import { BINARIES, type BinaryFolders } from "./binary.ts";
import { makeCertificates } from "../components/certificates.ts";
import { readIfThere } from "../components/daemon.ts";
import type { Instance } from "../instance.ts";
import { writeKubeconfigs } from "../components/kubeconfig.ts";
import { noteTraces } from "../machine_traces.ts";
import { makeNamespace } from "../namespace.ts";
import { nodeFiles, type NodeOptions } from "../node_files.ts";
import { obtainBinaries } from "./obtain_binaries.ts";
import { installPackages } from "./packages.ts";
import { foreignPodProcesses, makeCgroupRoot } from "../pod_cgroups.ts";
import type { Progress } from "../progress.ts";
import { runningComponent, stopComponent } from "../components/running_component.ts";
import { readSettings, type Settings, writeSettings } from "../settings.ts";
import { findProgram, run } from "../shell.ts";

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
