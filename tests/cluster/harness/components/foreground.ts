/**
 * Another program in the place of this one: it has the terminal and gives the exit code.
 *
 * @module
 */

/** What shells report for a program that a signal ended, beyond the signal's number. */
const SIGNALLED = 128;

/** Runs a program; resolves with its exit code. SIGTERM and SIGINT are the program's to answer. */
export async function runForeground(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, {
    args,
    env,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  // A terminal sends SIGINT to both; SIGTERM comes to this process alone.
  const ignore = (): void => {};
  const passOn = (): void => child.kill("SIGTERM");
  Deno.addSignalListener("SIGINT", ignore);
  Deno.addSignalListener("SIGTERM", passOn);
  try {
    const { code, signal } = await child.status;
    return signal === null ? code : Math.max(code, SIGNALLED);
  } finally {
    Deno.removeSignalListener("SIGINT", ignore);
    Deno.removeSignalListener("SIGTERM", passOn);
  }
}
