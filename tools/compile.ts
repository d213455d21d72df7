/**
 * Builds the programs as binaries in `build/bin/` and prints their sizes: `deno task compile`, or with
 * names of programs for those alone.
 *
 * A binary needs Deno's runtime, which `deno compile` downloads. Where that fails, the same entry
 * points become bundles in `build/bundles/`, and the compile step runs with this Deno as a stand-in
 * for the runtime: that checks the modules and the permission set, but its output can't be started
 * and is removed.
 *
 * @module
 */
import { type Built, compileProgram, sizeText } from "./build/compile_program.ts";
import { PROGRAMS } from "./build/programs.ts";

const root = new URL("../", import.meta.url);
const named = Deno.args;
const unknown = named.filter((name) => !PROGRAMS.some((program) => program.name === name));
if (unknown.length > 0) {
  console.error(
    `Cannot compile ${unknown.join(", ")}: expected ${PROGRAMS.map(({ name }) => name).join(", ")}`,
  );
  Deno.exit(2);
}
const kinds = new Set<Built["kind"]>();
for (const program of PROGRAMS) {
  if (named.length > 0 && !named.includes(program.name)) continue;
  const { path, kind } = await compileProgram(program).catch((error: Error) => {
    console.error(error.message);
    return Deno.exit(1);
  });
  const { size } = await Deno.stat(new URL(path, root));
  kinds.add(kind);
  console.log(`${kind} ${path} ${sizeText(size)}`);
}
if (kinds.has("bundle")) {
  console.error(
    "Cannot make binaries: Deno's runtime could not be downloaded; these are bundles, which Deno runs. " +
      "The compile step itself was checked with a stand-in.",
  );
  Deno.exitCode = 1;
}
