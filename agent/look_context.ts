/**
 * What a look at a pod needs to know of its surroundings.
 *
 * @module
 */
import type { CgroupFiles } from "../shared/cgroup/cgroup_files.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";

/** What a look needs to know of its surroundings. */
export interface LookContext {
  readonly tree: CgroupTree;
  /** Monotonic time. */
  readonly at: number;
  /** CPUs of the node. */
  readonly cores: number;
  /** The hex ids of the containers that the bounds name. */
  readonly named: ReadonlySet<string>;
  /** Whether to read PSI of containers with a quota, where it is offered. */
  readonly pressure: boolean;
  /** Told of each file whose text is not what the kernel prints. */
  readonly malformed: (error: SyntaxError, files: CgroupFiles) => void;
}
