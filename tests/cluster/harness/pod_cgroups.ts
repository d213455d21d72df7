/**
 * The cgroups that a kubelet made, in every hierarchy that is mounted.
 *
 * @module
 */
import { pause, readIfThere, signal } from "./daemon.ts";
import { folderEntries } from "./folder_entries.ts";
import type { Instance } from "./instance.ts";
import { cgroupMounts, readMounts } from "./mounts.ts";

/** The directories of one instance, given where hierarchies are mounted. */
export function ownedCgroups(
  { cgroupRoot }: Instance,
  hierarchies: readonly string[],
): { readonly roots: readonly string[]; readonly pods: readonly string[] } {
  // The machine's root is everyone's; a root of the instance's own goes with it.
  const own = cgroupRoot === "/" ? "" : cgroupRoot;
  return {
    roots: hierarchies.map((path) => `${path}${own === "" ? "/kubepods" : own}`),
    pods: hierarchies.map((path) => `${path}${own}/kubepods`),
  };
}

/** Makes the instance's cgroup root, which the kubelet wants to find. */
export async function makeCgroupRoot(instance: Instance): Promise<void> {
  if (instance.cgroupRoot === "/") return;
  for (const hierarchy of cgroupMounts(await readMounts())) {
    await Deno.mkdir(`${hierarchy}${instance.cgroupRoot}`, { recursive: true });
  }
}

/** Numbers of all processes in the instance's pods. */
export async function podProcesses(instance: Instance): Promise<readonly number[]> {
  const { pods } = ownedCgroups(instance, cgroupMounts(await readMounts()));
  const found = new Set<number>();
  for (const directory of pods) {
    for (const each of await withAllBelow(directory)) {
      // A cgroup of threads refuses to be read.
      const text = await readIfThere(`${each}/cgroup.procs`).catch(() => "");
      for (const line of (text ?? "").split("\n")) if (line !== "") found.add(Number(line));
    }
  }
  // The kernel shows 0 for a process of another PID namespace.
  return [...found].filter((pid) => pid > 0);
}

/** Kills the processes of all pods, and resolves when none is left. Throws after 20 s. */
export async function killPods(instance: Instance): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const pids = await podProcesses(instance);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, "SIGKILL");
    await pause(100);
  }
  throw new Error(
    `Cannot end the pods: after 20 s ${(await podProcesses(instance)).join(", ")} still live`,
  );
}

/** Removes the instance's cgroups, deepest first. Throws the kernel's error when one is in use. */
export async function removeCgroups(instance: Instance): Promise<void> {
  const { roots } = ownedCgroups(instance, cgroupMounts(await readMounts()));
  for (const root of roots) {
    for (const directory of (await withAllBelow(root)).toReversed()) await removeCgroup(directory);
  }
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

/** The directory and all below it, parents first; itself alone when it is not there. */
async function withAllBelow(directory: string): Promise<readonly string[]> {
  const found = [directory];
  for (const { name, isDirectory } of await folderEntries(directory)) {
    if (isDirectory) found.push(...await withAllBelow(`${directory}/${name}`));
  }
  return found;
}
