/**
 * A program as a binary, or as a bundle where Deno's runtime can't be downloaded.
 *
 * @module
 */
import { bundleProgram, compileArguments, type Program, runDeno } from "./programs.ts";

/** What was built of a program. */
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
