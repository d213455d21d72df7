/**
 * Fails when a Markdown file links to a file that is not there, names a task or test that does not
 * exist, or a test that may be left out.
 *
 * @module
 */
import {
  hasTest,
  ignoredIf,
  relativeLinks,
  taskNames,
  testReferences,
} from "./markdown_references.ts";
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
    if (!await exists(url)) continue;
    const source = await Deno.readTextFile(url);
    if (!hasTest(source, name)) {
      faults.push(`${path} names the test "${name}", which ${file} does not have`);
      continue;
    }
    const condition = ignoredIf(source, name);
    if (condition !== undefined) {
      faults.push(`${path} names the test "${name}", which ${file} leaves out if ${condition}`);
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
