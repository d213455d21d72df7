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
import {
  bundleProgram,
  compileArguments,
  type Program,
  PROGRAMS,
  runDeno,
} from "./build/programs.ts";

/** What was built of a program. */
interface Built {
  readonly path: string;
  readonly kind: "binary" | "bundle";
}

const root = new URL("../", import.meta.url);

/** What `deno compile` says when it can't get the runtime, as opposed to a fault in the program. */
const NO_RUNTIME = /denort|dl\.deno\.land/;

function exists(path: string): boolean {
  try {
    return Deno.statSync(new URL(path, root)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function checkWithoutRuntime(program: Program): Promise<void> {
  const output = `build/bin/${program.name}.unstartable`;
  const env = { DENORT_BIN: Deno.execPath() };
  const { ok, message } = await runDeno(compileArguments(program, output), { env });
  if (exists(output)) await Deno.remove(new URL(output, root));
  if (!ok) throw new Error(`Cannot compile ${program.entry}: ${message}`);
}

async function build(program: Program): Promise<Built> {
  const path = `build/bin/${program.name}`;
  const { ok, message } = await runDeno(compileArguments(program, path));
  if (ok) return { path, kind: "binary" };
  if (!NO_RUNTIME.test(message)) throw new Error(`Cannot compile ${program.entry}: ${message}`);
  await checkWithoutRuntime(program);
  return { path: await bundleProgram(program), kind: "bundle" };
}

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
  const { path, kind } = await build(program).catch((error: Error) => {
    console.error(error.message);
    return Deno.exit(1);
  });
  const { size } = await Deno.stat(new URL(path, root));
  kinds.add(kind);
  const amount = size > 1e6 ? `${(size / 1e6).toFixed(1)} MB` : `${(size / 1e3).toFixed(1)} kB`;
  console.log(`${kind} ${path} ${amount}`);
}
if (kinds.has("bundle")) {
  console.error(
    "Cannot make binaries: Deno's runtime could not be downloaded; these are bundles, which Deno runs. " +
      "The compile step itself was checked with a stand-in.",
  );
  Deno.exitCode = 1;
}
