/**
 * The files of the project, as checkers and generators see them.
 *
 * @module
 */

/** Folders without source of ours. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", "coverage", "build"]);

/** Paths below `root` with this ending, sorted, with `/` and without a leading one. */
export async function projectFiles(root: URL, ending: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for await (const entry of Deno.readDir(new URL(folder, root))) {
      if (entry.isDirectory && !SKIPPED.has(entry.name)) await visit(`${folder}${entry.name}/`);
      if (entry.isFile && entry.name.endsWith(ending)) found.push(folder + entry.name);
    }
  };
  await visit("./");
  return found.map((path) => path.slice(2)).sort();
}

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
