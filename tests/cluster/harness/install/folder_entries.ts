/**
 * What is in a folder.
 *
 * @module
 */

/** The entries, all read before any is touched; none when the folder is not there. */
export async function folderEntries(path: string): Promise<readonly Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
