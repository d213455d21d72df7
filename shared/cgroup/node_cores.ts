/**
 * The number of a node's CPUs, from its cgroups.
 *
 * @module
 */
import { countCpus } from "./cpu_list.ts";
import type { CgroupTree } from "./tree.ts";

/** The root's CPUs, in version 2 and version 1. */
const FILES = [
  "cpuset.cpus.effective",
  "cpuset/cpuset.effective_cpus",
  "cpuset/cpuset.cpus",
];

/**
 * CPUs of the node, or undefined where no cpuset is mounted. A process in a container cannot take
 * its own number of CPUs for it: runtimes lower that by the container's quota.
 */
export function readNodeCores(tree: CgroupTree): number | undefined {
  for (const file of FILES) {
    const text = tree.read(file);
    const count = text === undefined ? 0 : countCpus(text, file.slice(file.indexOf("/") + 1));
    if (count > 0) return count;
  }
  return undefined;
}
