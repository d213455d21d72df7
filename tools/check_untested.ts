/**
 * Coverage counts only the modules that some test loads. This names those of the core that none
 * did, from the profiles of the last run in `coverage/`.
 *
 * @module
 */
import { placeOf } from "./lint/place.ts";
import { projectFiles } from "./project_files.ts";

/** Where tests are owed; programs' entries, benchmarks and tools are run instead. */
const CORE: readonly string[] = [
  "shared",
  "adapters",
  "agent",
  "controller",
  "lab/simulation",
  "lab/arena",
  "lab/demo",
];

const root = new URL("../", import.meta.url);
const loaded = new Set<string>();
for (const profile of await projectFiles(new URL("coverage/", root), ".json")) {
  const text = await Deno.readTextFile(new URL(`coverage/${profile}`, root));
  const { url }: { url: string } = JSON.parse(text);
  loaded.add(url);
}

const untested: string[] = [];
for (const path of await projectFiles(root, ".ts")) {
  const place = placeOf(path);
  if (!CORE.includes(place.area) || place.test || place.main || loaded.has(`${root}${path}`)) {
    continue;
  }
  // A module of types alone leaves nothing to load.
  const source = await Deno.readTextFile(new URL(path, root));
  if (/^export (const|(async )?function|class)/m.test(source)) untested.push(path);
}
for (const path of untested) console.error(`${path} is loaded by no test`);
console.log(`${loaded.size} profiles, ${untested.length} modules that no test loads`);
if (untested.length > 0) Deno.exit(1);
