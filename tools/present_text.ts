/**
 * The text of a file that a generator compares or replaces.
 *
 * @module
 */

/** The text; empty where there is no file yet. */
export async function presentText(path: URL): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
