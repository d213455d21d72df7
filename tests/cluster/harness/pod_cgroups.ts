/**
 * The cgroups that a cluster's kubelet made, and the processes in them. Where no hierarchies are
 * given, those that are mounted are meant.
 *
 * @module
 */
import { enableControllers, UNIFIED_ROOT } from "./cgroup_controllers.ts";
import { pause, readIfThere, signal } from "./components/daemon.ts";
import { folderEntries } from "./install/folder_entries.ts";
import type { Instance } from "./instance.ts";
import { cgroupMounts, readMounts } from "./mounts.ts";
import { instanceCgroups, ownPodCgroups, podLevels } from "./components/own_pods.ts";

/** Makes the instance's cgroup root, which the kubelet wants to find. */
export async function makeCgroupRoot(instance: Instance): Promise<void> {
  if (instance.cgroupRoot === "/") return;
  await enableControllers(UNIFIED_ROOT);
  for (const root of instanceCgroups(instance, await mountedHierarchies()).roots) {
    await Deno.mkdir(root, { recursive: true });
  }
}

/** Numbers of processes in pods under the same cgroup root that are another kubelet's. */
export async function foreignPodProcesses(
  instance: Instance,
  hierarchies?: readonly string[],
): Promise<readonly number[]> {
  const mounted = hierarchies ?? await mountedHierarchies();
  const all = await processesIn(instanceCgroups(instance, mounted).kubepods);
  const own = new Set(await ownPodProcesses(instance, mounted));
  return all.filter((pid) => !own.has(pid));
}

/** Kills the processes of the instance's pods; resolves when none is left. Throws after 20 s. */
export async function killPods(instance: Instance): Promise<void> {
  let pids: readonly number[] = [];
  for (let tries = 0; tries < 200; tries++) {
    pids = await ownPodProcesses(instance, await mountedHierarchies());
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, "SIGKILL");
    await pause(100);
  }
  throw new Error(`Cannot end the pods: after 20 s ${pids.join(", ")} still live`);
}

/**
 * Removes the instance's cgroups, deepest first, and the levels above its pods unless others' are
 * in them. Throws the kernel's error when one of its own is in use.
 */
export async function removeCgroups(
  instance: Instance,
  hierarchies?: readonly string[],
): Promise<void> {
  const mounted = hierarchies ?? await mountedHierarchies();
  const { roots, kubepods } = instanceCgroups(instance, mounted);
  for (const own of [...await ownPodCgroups(instance, mounted), ...roots]) {
    for (const each of (await withAllBelow(own)).toReversed()) await removeCgroup(each);
  }
  for (const level of kubepods.flatMap(podLevels)) {
    const inUse = (await folderEntries(level)).some(({ isDirectory }) => isDirectory);
    // Without pods in it, it is refused only to a process that was put there by hand.
    if (!inUse) await removeCgroup(level).catch(passOverBusy);
  }
}

async function mountedHierarchies(): Promise<readonly string[]> {
  return cgroupMounts(await readMounts());
}

async function ownPodProcesses(
  instance: Instance,
  hierarchies: readonly string[],
): Promise<readonly number[]> {
  return await processesIn(await ownPodCgroups(instance, hierarchies));
}

async function processesIn(directories: readonly string[]): Promise<readonly number[]> {
  const found = new Set<number>();
  for (const directory of directories) {
    for (const each of await withAllBelow(directory)) {
      // A cgroup of threads refuses to be read.
      const text = await readIfThere(`${each}/cgroup.procs`).catch(() => "");
      for (const line of (text ?? "").split("\n")) if (line !== "") found.add(Number(line));
    }
  }
  // The kernel shows 0 for a process of another PID namespace.
  return [...found].filter((pid) => pid > 0);
}

/** The kernel frees a cgroup some time after its last process. */
async function removeCgroup(directory: string): Promise<void> {
  for (let tries = 0;; tries++) {
    try {
      return await Deno.remove(directory);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      if (tries === 50) throw error;
      await pause(100);
    }
  }
}

function passOverBusy(error: unknown): void {
  if (!(error instanceof Deno.errors.Busy)) throw error;
}

/** The directory and all below it, parents first; itself alone when it is not there. */
async function withAllBelow(directory: string): Promise<readonly string[]> {
  const found = [directory];
  for (const { name, isDirectory } of await folderEntries(directory)) {
    if (isDirectory) found.push(...await withAllBelow(`${directory}/${name}`));
  }
  return found;
}
