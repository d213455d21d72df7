/**
 * One JavaScript file for a program.
 *
 * @module
 */
import { bundleArguments, type Program } from "./programs.ts";
import { runDeno } from "./run_deno.ts";

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
