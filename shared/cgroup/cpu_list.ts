/**
 * The kernel's way to write a set of CPUs: `0-3,8`.
 *
 * @module
 */
import { malformed, parseCounter, soleLine } from "./counter_text.ts";

/**
 * How many CPUs a list names (Linux, Documentation/admin-guide/cputopology.rst); 0 for an empty
 * one. Throws a `SyntaxError` that names `file`.
 */
export function countCpus(text: string, file: string): number {
  const line = soleLine(text, file);
  if (line === "") return 0;
  let count = 0;
  for (const range of line.split(",")) {
    const [first = "", last = first, ...rest] = range.split("-");
    const place = { file, line: 1 };
    const size = parseCounter(last, place) - parseCounter(first, place) + 1;
    if (rest.length > 0 || size < 1) {
      throw malformed(line, { ...place, expected: "a list of CPUs" });
    }
    count += size;
  }
  return count;
}
