/**
 * Runs `deno doc --lint` over all modules but tests and fails on what {@linkcode isMinded} minds.
 * All modules at once, so that a type exported by another of them counts as public.
 *
 * @module
 */
import { placeOf } from "./lint/place.ts";
import { declaredTypes, isMinded, parseDocFindings } from "./doc_findings.ts";
import { projectFiles } from "./project_files.ts";

const root = new URL("../", import.meta.url);
const files = (await projectFiles(root, ".ts")).filter((path) => !placeOf(path).test);
const sources = await Promise.all(files.map((path) => Deno.readTextFile(new URL(path, root))));
const ownTypes = new Set(sources.flatMap(declaredTypes));

const { code, stderr } = await new Deno.Command(Deno.execPath(), {
  args: ["doc", "--lint", ...files],
  cwd: root,
  env: { NO_COLOR: "1" },
}).output();
const output = new TextDecoder().decode(stderr);
const findings = parseDocFindings(output);
const minded = findings.filter((finding) => isMinded(finding, ownTypes));
for (const { code, message, place } of minded) console.error(`${place} ${code}: ${message}`);

if (code !== 0 && findings.length === 0) {
  console.error(output);
  Deno.exit(1);
}
console.log(`${files.length} modules, ${minded.length} without the docs or types they need`);
if (minded.length > 0) Deno.exit(1);
