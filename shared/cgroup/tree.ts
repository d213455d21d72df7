/**
 * The port through which the kernel's cgroup files are read.
 *
 * @module
 */

/**
 * Files that hold one number each, read together. They may be released like any others; what was
 * released and is still there is opened anew.
 */
export interface CounterRows {
  /** Appends a row. */
  add(file: string): void;
  /** Removes a row; the last one takes its place. */
  removeAt(row: number): void;
  /** Reads all rows into `values`, NaN where the file is not there or holds anything else. */
  read(values: Float64Array): void;
}

/**
 * A read-only view of a cgroup file system below a root. Paths are relative to that root, with `/`
 * and without a leading one; the root itself is the empty string. Calls are synchronous: a read
 * from an open descriptor takes about 3 µs, less than a promise costs.
 */
export interface CgroupTree {
  /** Names of the child directories, in no particular order; undefined when there is no such directory. */
  children(directory: string): readonly string[] | undefined;
  /**
   * How many children `children` would list, without listing them, where the tree can tell; undefined
   * otherwise.
   */
  childCount?(directory: string): number | undefined;
  /** The text of a file now, or undefined when it is not there (any more). May keep it open. */
  read(file: string): string | undefined;
  /**
   * The number in a file that holds nothing else, by a shorter way than its text where the tree has
   * one: undefined when the file is not there, NaN when that is not what it holds.
   */
  counter?(file: string): number | undefined;
  /** An empty table of such files, to read all of them again and again. */
  counterRows?(): CounterRows;
  /** Closes whatever is held open below a directory; the empty string closes everything. */
  release(directory: string): void;
}
