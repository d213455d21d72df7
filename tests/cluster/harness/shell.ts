/**
 * Other programs, run to their end, and files of the machine.
 *
 * @module
 */

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly directory?: string;
  readonly input?: string;
}

/** Where tools of root are found, which the PATH of a plain shell leaves out. */
const SYSTEM_FOLDERS: readonly string[] = ["/usr/sbin", "/sbin", "/usr/local/go/bin"];

/** The PATH with the folders of root's tools behind it. */
export function wholePath(path: string | undefined): string {
  const folders = (path ?? "/usr/local/bin:/usr/bin:/bin").split(":");
  return [...folders, ...SYSTEM_FOLDERS.filter((folder) => !folders.includes(folder))].join(":");
}

export interface ProgramOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever that is. */
export async function outputOf(
  [program = "", ...args]: readonly string[],
  { env = {}, directory, input }: RunOptions = {},
): Promise<ProgramOutput> {
  const child = new Deno.Command(program, {
    args,
    env,
    ...(directory === undefined ? {} : { cwd: directory }),
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/**
 * Runs a program and returns what it wrote to standard output. Throws an `Error` that holds the end
 * of what it wrote to standard error when its exit code is not 0.
 */
export async function run(command: readonly string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await outputOf(command, options);
  if (code === 0) return stdout;
  const said = stderr.trim().split("\n").slice(-12).join("\n");
  throw new Error(`Cannot run ${command.slice(0, 4).join(" ")}: exit code ${code}\n${said}`);
}

/** The path of the first program of this name in the folders of a PATH, or undefined. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(":")) {
    const candidate = `${folder}/${name}`;
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

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

/** Exit code that shells report for a program that a signal ended, beyond the signal's number. */
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

/** The entries, all read before any is touched; none when the folder is not there. */
export async function folderEntries(path: string): Promise<readonly Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A reader never sees half a file, nor does a write that failed leave one. */
export async function putInPlace(
  target: string,
  write: (file: string) => Promise<unknown>,
): Promise<void> {
  const temporary = `${target}.${Deno.pid}.new`;
  try {
    await write(temporary);
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}
