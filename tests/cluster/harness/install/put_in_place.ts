/**
 * Files that appear whole or not at all.
 *
 * @module
 */

/** A reader never sees half a file, nor does a write that failed leave one. */
export async function putInPlace(
  target: string,
  write: (file: string) => Promise<unknown>,
): Promise<void> {
  const temporary = `${target}.${Deno.pid}.new`;
  try {
    await write(temporary);
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}
