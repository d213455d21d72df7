/**
 * Programs that are tasks: they read flags, print figures and write a page.
 *
 * @module
 */
import { FileProblem, reportProblem } from "./file_problem.ts";
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
    return read.exitCode;
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
