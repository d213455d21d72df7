/**
 * A trace: what some service was asked to do, or used, over time, at one value per step.
 *
 * @module
 */
import { resample, type TimedValue } from "./resample.ts";
import { parsePrometheus } from "./prometheus_range.ts";

/** Values at a fixed step. */
export interface Trace {
  readonly name: string;
  /** Requests per second, or CPUs used. */
  readonly unit: "requests/s" | "cores";
  /** Seconds per value. */
  readonly stepS: number;
  /** At least one; finite and not negative. */
  readonly values: Float64Array;
  /**
   * When each request came, where that was recorded: ms from the trace's start, sorted, all before
   * its end. `values` then counts them per step.
   */
  readonly arrivalsMs?: Float64Array;
}

/** The ways in which a trace may be written; {@linkcode parseTrace} describes them. */
export const TRACE_FORMATS = ["rps", "cores", "arrivals", "prometheus"] as const;

/** How a trace is written. */
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** The largest value that is still taken for a number of requests or cores. */
const MAX_VALUE = 1e9;

/**
 * Reads a trace. Formats: `rps`, one number per line and second; `cores`, CSV `timestamp,value`;
 * `arrivals`, CSV whose first column is the time of a request, in any order, kept and counted per
 * second; `prometheus`, the JSON of a range query with one series, in cores. A CSV may begin with a
 * line of column names; a timestamp is a number of seconds or a date (UTC when it names no zone).
 * Missing samples are interpolated.
 *
 * Throws a SyntaxError that names the trace, the line, its text and what was expected.
 */
export function parseTrace(
  text: string,
  { format, name }: { format: TraceFormat; name: string },
): Trace {
  const refuse = (state: string) => new SyntaxError(`Cannot read trace "${name}": ${state}`);
  const body = text.replace(/^\uFEFF/, "");
  switch (format) {
    case "rps": {
      const values = linesOf(body).map((line) => {
        const value = numberOf(line.text);
        if (value !== undefined) return value;
        throw refuse(`${place(line)}, expected one request rate per line, for instance 157`);
      });
      if (values.length === 0) throw refuse("it is empty, expected one request rate per line");
      return { name, unit: "requests/s", stepS: 1, values: Float64Array.from(values) };
    }
    case "cores": {
      const samples = dataLines(body, (line) => timedValue(line.text)).map(({ line, value }) => {
        if (value !== undefined) return value;
        throw refuse(
          `${place(line)}, expected a timestamp and a number, for instance 1628640000,39.72`,
        );
      });
      return { name, unit: "cores", ...resample(samples, refuse) };
    }
    case "arrivals": {
      const times = dataLines(body, (line) => timeOf(firstColumn(line.text))).map(
        ({ line, value }) => {
          if (value !== undefined) return value;
          throw refuse(
            `${
              place(line)
            }, expected a time in the first column, for instance 2023-11-16 18:17:03.97`,
          );
        },
      );
      return { name, unit: "requests/s", stepS: 1, ...countArrivals(times, refuse) };
    }
    case "prometheus":
      return { name, unit: "cores", ...resample(parsePrometheus(body, refuse), refuse) };
  }
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines without the empty ones at the end. */
function linesOf(text: string): Line[] {
  const trimmed = text.trimEnd();
  if (trimmed === "") return [];
  return trimmed.split(/\r?\n/).map((line, index) => ({ number: index + 1, text: line.trim() }));
}

/** Each line with what it says; a first line that says nothing is taken for column names. */
function dataLines<T>(
  text: string,
  read: (line: Line) => T | undefined,
): { line: Line; value: T | undefined }[] {
  const lines = linesOf(text).map((line) => ({ line, value: read(line) }));
  return lines.length > 1 && lines[0]?.value === undefined ? lines.slice(1) : lines;
}

function place({ number, text }: Line): string {
  return `line ${number} is "${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;
}

function firstColumn(line: string): string {
  return line.split(",", 1)[0] ?? "";
}

/** A plain decimal number from 0 to 1e9. */
function numberOf(text: string): number | undefined {
  if (!/^\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return value <= MAX_VALUE ? value : undefined;
}

/** Seconds since some start: a number, or a date. */
function timeOf(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const seconds = Number(text);
    return seconds < Number.MAX_SAFE_INTEGER ? seconds : undefined;
  }
  const date = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/.exec(
    text,
  );
  if (date === null) return undefined;
  const seconds = Date.parse(`${date[1]}T${date[2]}${date[4] ?? "Z"}`) / 1000;
  return Number.isFinite(seconds) ? seconds + Number(`0${date[3] ?? ""}`) : undefined;
}

function timedValue(line: string): TimedValue | undefined {
  const columns = line.split(",");
  const atS = timeOf((columns[0] ?? "").trim());
  const value = numberOf((columns[1] ?? "").trim());
  return atS === undefined || value === undefined || columns.length !== 2
    ? undefined
    : { atS, value };
}

/** A year of seconds: longer is a mistake in the time column. */
const MAX_SECONDS = 366 * 86_400;

/** Requests per second from the second of the first on, and their times from there. */
function countArrivals(
  times: readonly number[],
  refuse: (state: string) => SyntaxError,
): { values: Float64Array; arrivalsMs: Float64Array } {
  if (times.length === 0) throw refuse("it is empty, expected one request per line");
  const first = Math.floor(times.reduce((a, b) => Math.min(a, b)));
  const seconds = Math.floor(times.reduce((a, b) => Math.max(a, b))) - first + 1;
  if (seconds > MAX_SECONDS) {
    throw refuse(`its requests span ${seconds} s, expected at most a year: check the first column`);
  }
  const values = new Float64Array(seconds);
  for (const time of times) {
    const second = Math.floor(time) - first;
    values[second] = (values[second] ?? 0) + 1;
  }
  // A typed array sorts by value.
  const arrivalsMs = Float64Array.from(times, (time) => (time - first) * 1000).sort();
  return { values, arrivalsMs };
}
