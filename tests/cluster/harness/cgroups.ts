/**
 * The cgroups that a cluster's kubelet made, the processes in them, and what is mounted. The default
 * instance has its pods' cgroups where any kubelet has them, so a pod there is its own only when its
 * kubelet has a folder for it, which it makes before a pod's containers and removes after the pod's
 * cgroup.
 *
 * @module
 */
import { pause, readIfThere, signal } from "./daemon.ts";
import { folderEntries, run } from "./shell.ts";
import type { Instance } from "./instance.ts";

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

/** Below the guaranteed pods. Source: the kubelet's `qosContainerManagerImpl`. */
const QOS_CLASSES = ["burstable", "besteffort"] as const;

export function instanceCgroups(
  { cgroupRoot }: Instance,
  hierarchies: readonly string[],
): { readonly roots: readonly string[]; readonly kubepods: readonly string[] } {
  // The machine's root is everyone's; a root of the instance's own goes with it.
  const own = cgroupRoot === "/" ? "" : cgroupRoot;
  return {
    roots: own === "" ? [] : hierarchies.map((path) => `${path}${own}`),
    kubepods: hierarchies.map((path) => `${path}${own}/kubepods`),
  };
}

/** A `kubepods` directory and those in it that hold pods, the innermost first. */
function podLevels(kubepods: string): readonly string[] {
  return [...QOS_CLASSES.map((name) => `${kubepods}/${name}`), kubepods];
}

export async function ownPodCgroups(
  instance: Instance,
  hierarchies: readonly string[],
): Promise<readonly string[]> {
  const folders = await folderEntries(`${instance.directory}/kubelet/pods`);
  const names = new Set(folders.map(({ name }) => `pod${name}`));
  // In a root of the instance's own there are no others.
  const isOwn = (name: string): boolean =>
    name.startsWith("pod") && (instance.cgroupRoot !== "/" || names.has(name));
  const found: string[] = [];
  for (const level of instanceCgroups(instance, hierarchies).kubepods.flatMap(podLevels)) {
    for (const { name, isDirectory } of await folderEntries(level)) {
      if (isDirectory && isOwn(name)) found.push(`${level}/${name}`);
    }
  }
  return found;
}

/**
 * Where the kubelet looks for cgroup v2. Another place of it, beside hierarchies of v1, the kubelet
 * does not use.
 */
export const UNIFIED_ROOT = "/sys/fs/cgroup";

/** Source: the kubelet's `getSupportedUnifiedControllers`. */
const NEEDED: readonly string[] = ["cpu", "cpuset", "memory", "hugetlb", "pids"];

/** The controllers that are passed on from a root; undefined where there is no cgroup v2. */
export async function passedOn(root: string): Promise<readonly string[] | undefined> {
  const text = await readIfThere(`${root}/cgroup.subtree_control`);
  return text === undefined ? undefined : terms(text);
}

/**
 * Passes on what a kubelet demands of its cgroup root, which otherwise has it only when another program
 * else needed it. Does nothing where there is no cgroup v2.
 */
export async function enableControllers(root: string): Promise<void> {
  const enabled = await passedOn(root);
  if (enabled === undefined) return;
  const offered = terms(await readIfThere(`${root}/cgroup.controllers`) ?? "");
  const missing = NEEDED.filter((name) => offered.includes(name) && !enabled.includes(name));
  await change(root, missing.map((name) => `+${name}`));
}

/**
 * Passes on no more than before. Whether another cgroup needs a controller is unknown,
 * since it may have set a limit long after it was made; so all stays as it is while there is one.
 */
export async function restoreControllers(root: string, before: readonly string[]): Promise<void> {
  const enabled = await passedOn(root);
  const others = (await folderEntries(root)).some(({ isDirectory }) => isDirectory);
  if (enabled === undefined || others) return;
  const added = enabled.filter((name) => NEEDED.includes(name) && !before.includes(name));
  await change(root, added.map((name) => `-${name}`));
}

async function change(root: string, changes: readonly string[]): Promise<void> {
  if (changes.length === 0) return;
  try {
    await Deno.writeTextFile(`${root}/cgroup.subtree_control`, changes.join(" "), {
      create: false,
    });
  } catch (error) {
    throw new Error(`Cannot change the controllers of ${root} by ${changes.join(" ")}: ${error}`, {
      cause: error,
    });
  }
}

function terms(text: string): readonly string[] {
  return text.split(/\s+/).filter((term) => term !== "");
}

const CGROUP_ROOT = "/sys/fs/cgroup";

export interface Mount {
  readonly path: string;
  readonly type: string;
}

/** Reads `/proc/mounts`, in which blanks in paths are octal escapes. Source: fstab(5). */
function parseMounts(text: string): readonly Mount[] {
  return text.split("\n").filter((line) => line !== "").map((line) => {
    const [, path = "", type = ""] = line.split(" ");
    return {
      path: path.replaceAll(
        /\\([0-7]{3})/g,
        (_, octal: string) => String.fromCharCode(parseInt(octal, 8)),
      ),
      type,
    };
  });
}

/** Mount points under a directory, the last mounted first, so that none hides another. */
function mountsBelow(mounts: readonly Mount[], directory: string): readonly string[] {
  return mounts.map(({ path }) => path).filter((path) => path.startsWith(`${directory}/`))
    .reverse();
}

/**
 * Mount points of cgroup hierarchies of both versions, where the kubelet and the runtime look for
 * them. One elsewhere may show a part of a hierarchy only.
 */
function cgroupMounts(mounts: readonly Mount[]): readonly string[] {
  return mounts.filter(({ type }) => type === "cgroup" || type === "cgroup2")
    .map(({ path }) => path)
    .filter((path) => path === CGROUP_ROOT || path.startsWith(`${CGROUP_ROOT}/`));
}

export async function readMounts(): Promise<readonly Mount[]> {
  return parseMounts(await Deno.readTextFile("/proc/mounts"));
}

export async function unmountBelow(directory: string): Promise<void> {
  for (const path of mountsBelow(await readMounts(), directory)) {
    // Lazily: a process that is still ending may hold a file.
    await run(["umount", "--lazy", path]);
  }
}
