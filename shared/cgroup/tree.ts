/**
 * The port through which the kernel's cgroup files are read.
 *
 * @module
 */

/**
 * A read-only view of a cgroup file system below a root. Paths are relative to that root, with `/`
 * and without a leading one; the root itself is the empty string. Calls are synchronous: a read
 * from an open descriptor takes about 3 µs, less than a promise costs.
 */
export interface CgroupTree {
  /** Names of the child directories, in no particular order; undefined when there is no such directory. */
  children(directory: string): readonly string[] | undefined;
  /** The text of a file now, or undefined when it is not there (any more). May keep it open. */
  read(file: string): string | undefined;
  /** Closes all open files below a directory; the empty string closes everything. */
  release(directory: string): void;
}
