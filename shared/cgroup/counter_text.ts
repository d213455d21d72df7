/**
 * Numbers as the kernel prints them in cgroup files.
 *
 * @module
 */

/** A 64-bit counter has at most 20 digits; nothing longer, signed or fractional is one. */
const COUNTER = /^\d{1,20}$/;

/** Where a text was found, for the message of an error. */
export interface TextPlace {
  /** The file's name, for instance `cpu.stat`. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * The value of a counter. Counters above 2^53 lose their last digits, which for nanoseconds begins
 * after 104 days of CPU time and then costs 2 ns. Throws a `SyntaxError` that names file and line.
 */
export function parseCounter(text: string, place: TextPlace): number {
  if (!COUNTER.test(text)) throw malformed(text, { ...place, expected: "a counter" });
  return Number(text);
}

/** The error for a text that is not what the kernel prints; long texts are cut. */
export function malformed(
  text: string,
  { file, line, expected }: TextPlace & { readonly expected: string },
): SyntaxError {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  return new SyntaxError(`Cannot parse ${file}: line ${line} is ${shown}, expected ${expected}`);
}

/** A file of one line without its line ends; cgroup v1 files of old kernels end in two. */
export function soleLine(text: string, file: string): string {
  const line = text.trimEnd();
  if (line.includes("\n")) throw malformed(text, { file, line: 1, expected: "one line" });
  return line;
}
