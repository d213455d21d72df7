/**
 * Other programs, run to their end.
 *
 * @module
 */

/** How a program is run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Given on standard input. */
  readonly input?: string;
  /** Sends the program a SIGINT and still waits for its end. */
  readonly signal?: AbortSignal;
}

/** Where tools of root are found, which the PATH of a plain shell leaves out. */
export const SYSTEM_FOLDERS: readonly string[] = ["/usr/sbin", "/sbin", "/usr/local/go/bin"];

/** The PATH with the folders of root's tools behind it. */
export function wholePath(path: string | undefined): string {
  const folders = (path ?? "/usr/local/bin:/usr/bin:/bin").split(":");
  return [...folders, ...SYSTEM_FOLDERS.filter((folder) => !folders.includes(folder))].join(":");
}

/**
 * Runs a program and returns what it wrote to standard output. Throws an `Error` that holds the end
 * of what it wrote to standard error when its exit code is not 0.
 */
export async function run(
  command: readonly string[],
  { env = {}, directory, input, signal }: RunOptions = {},
): Promise<string> {
  signal?.throwIfAborted();
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, {
    args,
    env,
    ...(directory === undefined ? {} : { cwd: directory }),
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  using _ = interrupts(child, signal);
  if (input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  if (code !== 0) {
    const said = new TextDecoder().decode(stderr).trim().split("\n").slice(-12).join("\n");
    throw new Error(`Cannot run ${command.slice(0, 4).join(" ")}: exit code ${code}\n${said}`);
  }
  return new TextDecoder().decode(stdout);
}

/** Passes an abort on to a child until disposed of. */
function interrupts(child: Deno.ChildProcess, signal: AbortSignal | undefined): Disposable {
  const interrupt = (): void => {
    try {
      child.kill("SIGINT");
    } catch {
      // It ended by itself a moment ago.
    }
  };
  signal?.addEventListener("abort", interrupt);
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", interrupt) };
}

/** The path of the first program of this name in the folders of a PATH, or undefined. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(":")) {
    const candidate = `${folder}/${name}`;
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** Whether this is a file that may be run. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    const { isFile, mode } = await Deno.stat(path);
    return isFile && ((mode ?? 0) & 0o111) !== 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw error;
  }
}
