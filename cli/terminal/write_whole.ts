/**
 * Text to a stream of the terminal, all of it.
 *
 * @module
 */

/** Where the bytes go, for instance `Deno.stdout`. */
export interface ByteSink {
  /** Writes some of the bytes, at least one; returns how many. */
  writeSync(bytes: Uint8Array): number;
}

/**
 * Writes the text as UTF-8. A single write to a pipe may take a part of it. Throws what the stream
 * throws: `Deno.errors.BrokenPipe` when the output is no longer read.
 */
export function writeWhole(text: string, sink: ByteSink): void {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(sink.writeSync(rest));
}
