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
import { bundleProgram, compileArguments, type Program, PROGRAMS, runDeno } from "./programs.ts";

/** The binary or bundle of a program. */
export interface Built {
  /** Below the root. */
  readonly path: string;
  readonly kind: "binary" | "bundle";
}

const root = new URL("../../", import.meta.url);

/** `1.2 MB` or `345.6 kB`. */
export function sizeText(bytes: number): string {
  return bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`;
}

/** The error of `deno compile` when it can't get the runtime, as opposed to a fault in the program. */
const NO_RUNTIME = /denort|dl\.deno\.land/;

async function checkWithoutRuntime(program: Program): Promise<void> {
  const output = `build/bin/${program.name}.unstartable`;
  const env = { DENORT_BIN: Deno.execPath() };
  const { ok, message } = await runDeno(compileArguments(program, output), { env });
  await Deno.remove(new URL(output, root)).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  if (!ok) throw new Error(`Cannot compile ${program.entry}: ${message}`);
}

/**
 * Compiles a program into `build/bin`, for another platform where its Deno target is named, such as
 * `aarch64-unknown-linux-gnu`. Without the runtime the compile step runs with this Deno as a stand-in,
 * which checks modules and permission set, and the result is a bundle. Throws an `Error` otherwise.
 */
export async function compileProgram(program: Program, target?: string): Promise<Built> {
  const path = `build/bin/${[program.name, target].filter(Boolean).join("-")}`;
  const extra = target === undefined ? [] : [`--target=${target}`];
  const [command = "", ...args] = compileArguments(program, path);
  const { ok, message } = await runDeno([command, ...extra, ...args]);
  if (ok) return { path, kind: "binary" };
  if (!NO_RUNTIME.test(message)) throw new Error(`Cannot compile ${program.entry}: ${message}`);
  await checkWithoutRuntime(program);
  return { path: await bundleProgram(program), kind: "bundle" };
}

if (import.meta.main) {
  const named = Deno.args;
  const unknown = named.filter((name) => !PROGRAMS.some((program) => program.name === name));
  if (unknown.length > 0) {
    console.error(
      `Cannot compile ${unknown.join(", ")}: expected ${
        PROGRAMS.map(({ name }) => name).join(", ")
      }`,
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
}
