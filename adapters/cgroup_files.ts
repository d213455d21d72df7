/**
 * The kernel's cgroup files.
 *
 * Files stay open between reads: a read from an open descriptor takes about 1.5 µs, with opening and
 * closing around it 8 µs. The kernel generates the text again at each read from position 0.
 *
 * @module
 */
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import type { CgroupTree } from "../shared/cgroup/tree.ts";

/** Limits of the tree. */
export interface CgroupTreeOptions {
  /**
   * Most open files. Beyond it the file opened last is closed: all files are read in the same order
   * again and again, so that closing the oldest would close each file before its next read.
   * @default {4096}
   */
  readonly maxOpenFiles?: number;
}

/** A tree that must be closed, by `release("")` or by `using`. */
export type OpenCgroupTree = CgroupTree & Disposable;

/** More than the longest file: `cpu.stat` has some 200 bytes, and more lines on some kernels. */
const BUFFER_BYTES = 16 * 1024;

/**
 * The tree under a directory. Its calls throw a `Deno.errors.NotCapable` or `PermissionDenied` that
 * names the right that is missing, and a `RangeError` for a path that leaves the root or a file of more
 * than 16 KiB. They return undefined for a missing file.
 */
export function openCgroupTree(
  root: string,
  { maxOpenFiles = 4096 }: CgroupTreeOptions = {},
): OpenCgroupTree {
  const files = new Map<string, number>();
  const buffer = new Uint8Array(BUFFER_BYTES);
  const decoder = new TextDecoder();
  let lastOpened: string | undefined;

  const closeFile = (path: string): void => {
    const file = files.get(path);
    if (file !== undefined) closeSync(file);
    files.delete(path);
    if (lastOpened === path) lastOpened = undefined;
  };

  const openFile = (path: string): number | undefined => {
    if (files.size >= maxOpenFiles) closeFile(lastOpened ?? files.keys().next().value ?? "");
    const file = unlessGone(() => openSync(resolve(root, path), "r"));
    if (file !== undefined) {
      files.set(path, file);
      lastOpened = path;
    }
    return file;
  };

  const read = (path: string): string | undefined => {
    const file = files.get(path) ?? openFile(path);
    if (file === undefined) return undefined;
    let length: number;
    // No closure here: there are hundreds of reads a second.
    try {
      // One read is enough: the kernel makes a cgroup file's text in one piece, and gives all of it that
      // fits (Linux, fs/seq_file.c).
      length = readSync(file, buffer, 0, buffer.length, 0);
    } catch (error) {
      checkGone(error);
      closeFile(path);
      return undefined;
    }
    if (length === buffer.length) {
      throw new RangeError(`Cannot read ${path}: it is longer than ${BUFFER_BYTES - 1} bytes`);
    }
    return decoder.decode(buffer.subarray(0, length));
  };

  const release = (directory: string): void => {
    const prefix = directory === "" ? "" : `${directory}/`;
    for (const path of [...files.keys()]) if (path.startsWith(prefix)) closeFile(path);
  };

  return {
    children: (directory) =>
      unlessGone(() => {
        // Links, such as cpu -> cpu,cpuacct, are skipped: their targets are listed themselves.
        return readdirSync(resolve(root, directory), { withFileTypes: true })
          .filter((entry) => entry.isDirectory()).map(({ name }) => name);
      }),
    read,
    release,
    [Symbol.dispose]: () => release(""),
  };
}

/** The absolute path. Throws a `RangeError` for one that leaves the root, or is absolute itself. */
function resolve(root: string, path: string): string {
  if (path === "") return root;
  if (path.startsWith("/") || path.includes("\0") || path.split("/").includes("..")) {
    throw new RangeError(
      `Cannot open ${JSON.stringify(path)}: it leaves the cgroup root, expected a path below it`,
    );
  }
  return `${root}/${path}`;
}

/**
 * ENOENT on opening and ENODEV on reading: the cgroup is gone; ENOTDIR: a file took a directory's place.
 * EOPNOTSUPP, which libuv calls ENOTSUP: the kernel has PSI, switched off at boot, and its files are
 * there all the same (Linux, kernel/sched/psi.c, `psi_show`).
 */
const GONE: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ENODEV",
  "ENOTDIR",
  "ENOTSUP",
  "EOPNOTSUPP",
]);

/** The result, or undefined when the cgroup is gone or has no such file. */
function unlessGone<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    checkGone(error);
    return undefined;
  }
}

/** Returns when the error means that the cgroup is gone or has no such file; throws all others, with a remedy. */
function checkGone(error: unknown): void {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (GONE.has(code)) return;
  if (error instanceof Deno.errors.NotCapable) {
    throw new Deno.errors.NotCapable(
      `Cannot read the cgroup tree: ${error.message}. Under /sys Deno reads nothing unless it ` +
        "may do everything: mount the host's /sys/fs/cgroup elsewhere, for instance /host/cgroup",
      { cause: error },
    );
  }
  if (error instanceof Error && (code === "EACCES" || code === "EPERM")) {
    throw new Deno.errors.PermissionDenied(
      `Cannot read the cgroup tree: ${error.message}. The files must be readable to this user`,
      { cause: error },
    );
  }
  throw error;
}
