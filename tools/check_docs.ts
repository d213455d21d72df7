/**
 * Fails when a Markdown file links to a file that is not there, or names a task or test that does not
 * exist.
 *
 * @module
 */
import { hasTest, relativeLinks, taskNames, testReferences } from "./markdown_references.ts";
import { projectFiles } from "./project_files.ts";

const root = new URL("../", import.meta.url);
const config: { tasks: Record<string, unknown> } = JSON.parse(
  await Deno.readTextFile(new URL("deno.json", root)),
);

async function exists(url: URL): Promise<boolean> {
  try {
    await Deno.stat(url);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const documents = await projectFiles(root, ".md");
const faults: string[] = [];
for (const path of documents) {
  const markdown = await Deno.readTextFile(new URL(path, root));
  for (const target of relativeLinks(markdown)) {
    if (!await exists(new URL(target, new URL(path, root)))) {
      faults.push(`${path} links to ${target}, which is not there`);
    }
  }
  for (const { file, name } of testReferences(markdown)) {
    const url = new URL(file, new URL(path, root));
    if (await exists(url) && !hasTest(await Deno.readTextFile(url), name)) {
      faults.push(`${path} names the test "${name}", which ${file} does not have`);
    }
  }
  for (const name of taskNames(markdown)) {
    if (!Object.hasOwn(config.tasks, name)) {
      faults.push(`${path} names the task ${name}, which deno.json does not have`);
    }
  }
}
for (const fault of faults) console.error(fault);
console.log(`${documents.length} documents, ${faults.length} faults`);
if (faults.length > 0) Deno.exit(1);
