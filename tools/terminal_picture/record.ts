/**
 * Records commands in a pseudo-terminal, which `script` of util-linux opens.
 *
 * @module
 */
import type { Cast, CastEvent } from "./cast.ts";

/** A command, and how it is shown. */
export interface RecordedCommand {
  /** Typed after the prompt. */
  readonly typed: string;
  /** Run by a shell. */
  readonly run: string;
  /** Ends with Ctrl-C after so many seconds; absent: by itself. */
  readonly seconds?: number;
}

/** Between two typed characters, and before Enter and the next command, seconds. */
const KEY = 0.05;
const REST = 2;

/** Runs the commands one after the other. Throws an `Error` for one that ends with another code than 0. */
export async function recordTerminal(
  commands: readonly RecordedCommand[],
  { width, height }: Pick<Cast, "width" | "height">,
): Promise<Cast> {
  const events: CastEvent[] = [];
  let at = 0;
  const add = (text: string, after: number): void => {
    at += after;
    events.push({ at, text });
  };
  for (const { typed, run, seconds } of commands) {
    add("\x1b[2J\x1b[H\x1b[1m$\x1b[0m ", 0);
    for (const key of typed) add(key, KEY);
    add("\r\n", 10 * KEY);
    const limit = seconds === undefined ? "" : `timeout --foreground -s INT ${seconds} `;
    const child = new Deno.Command("script", {
      args: ["-qefc", `stty cols ${width} rows ${height}; exec ${limit}${run}`, "/dev/null"],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const begin = performance.now();
    const before = at;
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      at = before + (performance.now() - begin) / 1000;
      add(text, 0);
    }
    const { code } = await child.status;
    // `timeout` ends with 124.
    if (code !== 0 && code !== 124) {
      throw new Error(`Cannot record ${typed}: it ended with ${code}`);
    }
    add("", REST);
  }
  return { width, height, events };
}
