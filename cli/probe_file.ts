/**
 * Checks that a file can be written before the work that fills it.
 *
 * @module
 */

/**
 * Opens the file for writing. Rejects with the system's error where that fails; a file that is there
 * keeps its content, and where none was, none is left.
 */
export async function probeFile(path: string): Promise<void> {
  const isNew = await Deno.lstat(path).then(() => false, (error) => {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  });
  const file = await Deno.open(path, { write: true, create: true });
  file.close();
  if (isNew) await Deno.remove(path);
}
