/**
 * What is mounted, from `/proc/mounts`.
 *
 * @module
 */
import { run } from "./shell.ts";

const CGROUP_ROOT = "/sys/fs/cgroup";

/** One line of `/proc/mounts`. */
export interface Mount {
  readonly path: string;
  readonly type: string;
}

/** Reads `/proc/mounts`, in which blanks in paths are octal escapes. Source: fstab(5). */
export function parseMounts(text: string): readonly Mount[] {
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
export function mountsBelow(mounts: readonly Mount[], directory: string): readonly string[] {
  return mounts.map(({ path }) => path).filter((path) => path.startsWith(`${directory}/`))
    .reverse();
}

/**
 * Mount points of cgroup hierarchies of both versions, where the kubelet and the runtime look for
 * them. One elsewhere may show a part of a hierarchy only.
 */
export function cgroupMounts(mounts: readonly Mount[]): readonly string[] {
  return mounts.filter(({ type }) => type === "cgroup" || type === "cgroup2")
    .map(({ path }) => path)
    .filter((path) => path === CGROUP_ROOT || path.startsWith(`${CGROUP_ROOT}/`));
}

/** What is mounted now. */
export async function readMounts(): Promise<readonly Mount[]> {
  return parseMounts(await Deno.readTextFile("/proc/mounts"));
}

/** Unmounts everything under a directory. */
export async function unmountBelow(directory: string): Promise<void> {
  for (const path of mountsBelow(await readMounts(), directory)) {
    // Lazily: a process that is still ending may hold a file.
    await run(["umount", "--lazy", path]);
  }
}
