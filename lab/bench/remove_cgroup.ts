/**
 * Removal of cgroups that a benchmark made.
 *
 * @module
 */
const REMOVE_TRIES = 40;
const TRY_AGAIN_MS = 25;

/**
 * Removes a cgroup with all below it, deepest first; the last process may take a moment to go. One that
 * is not there is removed. Throws an `Error` for one that stays.
 */
export function removeCgroup(directory: string): void {
  let children: Deno.DirEntry[];
  try {
    children = [...Deno.readDirSync(directory)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  for (const { name, isDirectory } of children) {
    if (isDirectory) removeCgroup(`${directory}/${name}`);
  }
  for (let tries = 0;; tries++) {
    // Deno.remove would remove the files in it first, which a cgroup does not allow.
    const { success, stderr } = new Deno.Command("rmdir", { args: [directory] }).outputSync();
    if (success) return;
    if (tries === REMOVE_TRIES) {
      throw new Error(`Cannot remove ${directory}: ${new TextDecoder().decode(stderr).trim()}`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_AGAIN_MS);
  }
}
