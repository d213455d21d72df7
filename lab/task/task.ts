/**
 * Programs that are tasks: they read flags, print figures and write a page; and messages about files of
 * the user.
 *
 * @module
 */
import type { TaskArguments } from "./task_flags.ts";
import { writeWhole } from "../../cli/terminal/terminal_text.ts";

/** The outside of a task: two streams, a clock, and one file. */
export interface TaskWorld {
  /** Writes text as it is. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Characters in a line of the terminal. */
  readonly columns: number;
  /** Value of NO_COLOR, if set. */
  readonly noColor: string | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /** Rejects where {@linkcode writeFile} would, and leaves everything as it is. */
  readonly probeFile: (path: string) => Promise<void>;
}

/** Flags that all tasks have. */
export interface TaskFlags {
  /** Path of the page; false: none is written. */
  readonly report: string | false;
}

/** Plays, and returns the page, with what to print once it is written. */
export type TaskPlay<Flags> = (
  flags: Flags,
) => Promise<{ readonly page: () => string; readonly note: string }>;

/**
 * Runs the task and returns the exit code: 0, 1 for a {@linkcode FileProblem}, 2 for wrong flags. That
 * the page can be written shows before the work.
 */
export async function runTask<Flags extends TaskFlags>(
  read: TaskArguments<Flags>,
  { world, play }: { readonly world: TaskWorld; readonly play: TaskPlay<Flags> },
): Promise<number> {
  if (read.kind === "help") {
    world.out(read.text);
    return 0;
  }
  if (read.kind === "usage-error") {
    world.err(`${read.message}\n`);
    return 2;
  }
  const { flags, flags: { report } } = read;
  const onReport = (cause: unknown): never => {
    throw reportProblem(String(report), cause);
  };
  try {
    if (report !== false) await world.probeFile(report).catch(onReport);
    const { page, note } = await play(flags);
    if (report === false) return 0;
    await world.writeFile(report, page()).catch(onReport);
    world.out(note);
    return 0;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    world.err(`${error.message}\n`);
    return 1;
  }
}

/** The world of this process. */
export function taskWorld(): TaskWorld {
  const outIsTerminal = Deno.stdout.isTerminal();
  const errIsTerminal = Deno.stderr.isTerminal();
  return {
    out: (text) => writeWhole(text, Deno.stdout),
    err: (text) => writeWhole(text, Deno.stderr),
    outIsTerminal,
    errIsTerminal,
    columns: outIsTerminal || errIsTerminal ? Deno.consoleSize().columns : 120,
    noColor: Deno.noColor ? "1" : undefined,
    now: () => performance.now(),
    writeFile: (path, text) => Deno.writeTextFile(path, text),
    probeFile,
  };
}

/**
 * Opens the file for writing. Rejects with the system's error where that fails; a file that is there
 * keeps its content, and where none was, none is left.
 */
export async function probeFile(path: string): Promise<void> {
  const isNew = await Deno.lstat(path).then(() => false, (error) => {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  });
  const file = await Deno.open(path, { write: true, create: true });
  file.close();
  if (isNew) await Deno.remove(path);
}

/** A file can't be used; the program then ends with code 1. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/** Why a trace can't be played. A fault of the program is thrown on: it shows where it is. */
export function traceProblem(path: string | undefined, cause: unknown): FileProblem {
  const message = cause instanceof SyntaxError || cause instanceof RangeError
    ? cause.message
    : `Cannot read trace "${path}": ${readFault(cause)}`;
  return new FileProblem(message, { cause });
}

/** Why a report can't be written, and what helps; as {@linkcode traceProblem}. */
export function reportProblem(path: string, cause: unknown): FileProblem {
  return new FileProblem(`Cannot write report "${path}": ${writeFault(cause)}`, { cause });
}

function writeFault(cause: unknown): string {
  const { IsADirectory, NotADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  if (cause instanceof NotFound) {
    return "its folder is not there; create the folder or give another path";
  }
  if (cause instanceof IsADirectory) return "it is a directory; give the path of a file in it";
  if (cause instanceof NotADirectory) {
    return "a file stands where its folder should be; give another path";
  }
  if (cause instanceof PermissionDenied) {
    return "you may not write there, see ls -l; give another path";
  }
  return cause instanceof NotCapable
    ? "the task may write below the project and /tmp only; give another path"
    : systemMessage(cause);
}

/** Why a file can't be read, and what helps. Throws what is no error of the system's. */
export function readFault(cause: unknown): string {
  if (cause instanceof Deno.errors.NotFound) return "there is no such file; check the path";
  if (cause instanceof Deno.errors.IsADirectory) {
    return "it is a directory; give the path of a file in it";
  }
  return cause instanceof Deno.errors.PermissionDenied || cause instanceof Deno.errors.NotCapable
    ? "you may not read it; see ls -l"
    : systemMessage(cause);
}

/** The system's message without its number: `No space left on device (os error 28), write 'x'`. */
function systemMessage(cause: unknown): string {
  const known = Object.values(Deno.errors).some((kind) => cause instanceof kind);
  if (!known || !(cause instanceof Error)) throw cause;
  return cause.message.replace(/ \(os error \d+\).*$/s, "");
}
