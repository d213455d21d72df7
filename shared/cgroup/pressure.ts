/**
 * The text of `cpu.pressure`: pressure stall information (PSI).
 *
 * Source: Linux, Documentation/accounting/psi.rst.
 *
 * @module
 */
import { malformed, parseCounter, type TextPlace } from "./counter_text.ts";

/** One line. Averages are percent of time, over 10 s, 60 s and 300 s. */
export interface PressureLine {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  /** Milliseconds since the cgroup was made. */
  readonly totalMs: number;
}

/** `some`: at least one task waited for CPU, by quota or by contention; `full`: all of them did. */
export interface Pressure {
  readonly some: PressureLine;
  /** Missing on kernels before 5.13. */
  readonly full?: PressureLine;
}

const LINE =
  /^(some|full) avg10=(\d{1,3}\.\d\d) avg60=(\d{1,3}\.\d\d) avg300=(\d{1,3}\.\d\d) total=(\d+)$/;

const US_PER_MS = 1e3;

/** Throws a `SyntaxError` when a line is not one of PSI's or the line `some` is missing. */
export function parsePressure(text: string): Pressure {
  let some: PressureLine | undefined;
  let full: PressureLine | undefined;
  const lines = text.trimEnd().split("\n");
  for (const [index, line] of lines.entries()) {
    const place: TextPlace = { file: "cpu.pressure", line: index + 1 };
    const [, kind, avg10, avg60, avg300, total] = LINE.exec(line) ?? [];
    if (kind === undefined || total === undefined) {
      throw malformed(line, {
        ...place,
        expected: "some or full with avg10, avg60, avg300 and total",
      });
    }
    const parsed = {
      avg10: Number(avg10),
      avg60: Number(avg60),
      avg300: Number(avg300),
      totalMs: parseCounter(total, place) / US_PER_MS,
    };
    if (kind === "some") some = parsed;
    else full = parsed;
  }
  if (some === undefined) {
    throw malformed(text, { file: "cpu.pressure", line: 1, expected: "a line some" });
  }
  return full === undefined ? { some } : { some, full };
}
