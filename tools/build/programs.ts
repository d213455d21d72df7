/**
 * The programs that are shipped, and how each is built.
 *
 * @module
 */

/** A program. */
export interface Program {
  /** Name of the binary and the image. */
  readonly name: string;
  readonly entry: string;
  /** Its permission set in `deno.json`. */
  readonly permissions: string;
  /** Whether it runs in the cluster, from an image. */
  readonly image: boolean;
}

/** All of them. */
export const PROGRAMS: readonly Program[] = [
  { name: "mbcas-agent", entry: "agent/main.ts", permissions: "agent", image: true },
  { name: "mbcas-controller", entry: "controller/main.ts", permissions: "controller", image: true },
  {
    name: "kubectl-coalloc",
    entry: "cli/kubectl_coalloc.ts",
    permissions: "cli",
    image: false,
  },
];

/**
 * V8 cleans up young objects after each megabyte, and without threads of its own for that: what those
 * take from malloc stays (decision 0008 has the figures). Flags that save machine code, such as
 * `--optimize-for-size`, save nothing beside that, and cost the agent a third more CPU: it would run most
 * of its code in the interpreter.
 */
export const V8_FLAGS = "--v8-flags=--max-semi-space-size=1,--single-threaded-gc";

/**
 * Environment of the program in an image (mallopt(3)). With one arena, malloc keeps what V8's threads
 * needed once, while they compiled, for all; with an arena for each thread, 15 MB may stay with one
 * that needs it no more (`M_ARENA_MAX`). And it gives back what is free at its end from 64 KiB on: left
 * alone it learns from the largest block that was ever freed to keep far more (`M_TRIM_THRESHOLD`).
 */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "65536",
};

/** Arguments of `deno` that compile a program into the file `output`. */
export function compileArguments(program: Program, output: string): string[] {
  return [
    "compile",
    "--quiet",
    "--no-check",
    `-P=${program.permissions}`,
    "--no-prompt",
    "--bundle",
    "--minify",
    "--exclude-unused-npm",
    V8_FLAGS,
    `--output=${output}`,
    program.entry,
  ];
}

/** Arguments of `deno` that put a program and all it imports into the file `output`. */
function bundleArguments(program: Program, output: string): string[] {
  return ["bundle", "--quiet", "--minify", "--platform=deno", `--output=${output}`, program.entry];
}

/** How a step ended. */
export interface StepResult {
  readonly ok: boolean;
  /** Its standard error. */
  readonly message: string;
}

/** Runs Deno at the root of the project. */
export async function runDeno(
  args: readonly string[],
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<StepResult> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: new URL("../../", import.meta.url),
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdout: "null",
    stderr: "piped",
  }).output();
  return { ok: success, message: new TextDecoder().decode(stderr).trim() };
}

/**
 * Bundles a program into `build/bundles/NAME.js`, and resolves with this path below the root. Throws
 * an `Error` with Deno's message.
 */
export async function bundleProgram(program: Program): Promise<string> {
  const output = `build/bundles/${program.name}.js`;
  const { ok, message } = await runDeno(bundleArguments(program, output));
  if (!ok) throw new Error(`Cannot bundle ${program.entry}: ${message}`);
  return output;
}
