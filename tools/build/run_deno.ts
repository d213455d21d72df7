/**
 * Runs this very Deno for a step of the build.
 *
 * @module
 */

/** How a step ended. */
export interface StepResult {
  readonly ok: boolean;
  /** What it wrote to standard error. */
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
