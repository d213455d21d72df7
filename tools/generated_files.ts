/**
 * Files that are made from the source.
 *
 * @module
 */

/**
 * Writes the files, by their paths below the root; with `--check` among the program's arguments it writes
 * nothing, and the program ends with code 1 where one differs. `task` is the one that writes them.
 */
export async function keepFiles(
  files: Readonly<Record<string, string>>,
  task: string,
): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    const path = new URL(`../${file}`, import.meta.url);
    if (await presentText(path) === text) continue;
    if (!Deno.args.includes("--check")) {
      await Deno.writeTextFile(path, text);
      continue;
    }
    console.error(`${file} is stale: run deno task ${task}`);
    Deno.exitCode = 1;
  }
}

/** The text of a file; empty where there is none yet. */
export async function presentText(path: URL): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
