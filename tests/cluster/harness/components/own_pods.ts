/**
 * Which pods on the machine are a cluster's own. The default instance has its pods' cgroups where
 * any kubelet has them, so a pod there is its own only when its kubelet has a folder for it, which
 * it makes before a pod's containers and removes after the pod's cgroup.
 *
 * @module
 */
import { folderEntries } from "../install/folder_entries.ts";
import type { Instance } from "../instance.ts";

/** Below the guaranteed pods. Source: the kubelet's `qosContainerManagerImpl`. */
const QOS_CLASSES = ["burstable", "besteffort"] as const;

/** The directories of one instance, given where hierarchies are mounted. */
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
export function podLevels(kubepods: string): readonly string[] {
  return [...QOS_CLASSES.map((name) => `${kubepods}/${name}`), kubepods];
}

/** The cgroups of the instance's own pods, given where hierarchies are mounted. */
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
