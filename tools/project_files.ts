/**
 * The files of the project, as the checkers see them.
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
