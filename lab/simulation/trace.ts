/**
 * A trace: what some service was asked to do, or used, over time, at one value per step.
 *
 * @module
 */
import { exponent, parsePrometheus, resample, type TimedValue } from "./time_series.ts";

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

/** The largest value that is still taken for a number of requests or cores. */
const MAX_VALUE = 1e9;

/** How a trace is to be read. */
export interface ParseOptions {
  readonly format: TraceFormat;
  /** For messages. */
  readonly name: string;
  /** Whether the format was recognized: errors then say what it was taken for. @default {false} */
  readonly guessed?: boolean;
}

/** Formats with samples that carry the time that they were taken at. */
export type TimedFormat = Extract<TraceFormat, "cores" | "prometheus">;

/** How samples with times are to be read. */
export interface TimedOptions extends ParseOptions {
  readonly format: TimedFormat;
  /** The largest value that is taken; bytes need more. @default {1e9} */
  readonly most?: number;
  /** The counted unit, for messages. @default {"cores"} */
  readonly counted?: string;
}

/** Makes the error of a reason, which says what the trace was taken for where that was guessed. */
export function traceRefusal(
  { format, name, guessed = false }: ParseOptions,
): (state: string) => SyntaxError {
  const remark = guessed ? guessRemark(format) : undefined;
  const end = remark === undefined ? "" : ` (${remark})`;
  return (state) => new SyntaxError(`Cannot read trace "${name}": ${state}${end}`);
}

/**
 * Reads a trace. Formats: `rps`, one number per line and second; `cores`, CSV `timestamp,value`;
 * `arrivals`, CSV with a first column that is the time of a request, in any order, kept and counted per
 * second; `prometheus`, the JSON of a range query with one series, in cores. A CSV may begin with a
 * line of column names; a timestamp is a number of seconds or a date (UTC when it names no zone).
 * Samples are about a second apart or more; missing ones are interpolated.
 *
 * Throws a SyntaxError that names the trace, the line, its text and what was expected.
 */
export function parseTrace(text: string, options: ParseOptions): Trace {
  const { format, name } = options;
  const refuse = traceRefusal(options);
  const body = text.replace(/^\uFEFF/, "");
  switch (format) {
    case "rps": {
      const values = linesOf(body).map((line) => {
        const value = numberOf(line.text, MAX_VALUE);
        if (value !== undefined) return value;
        throw refuse(
          `${place(line)}, expected one request rate from 0 to 1e9 per line, for instance 157`,
        );
      });
      if (values.length === 0) throw refuse("it is empty, expected one request rate per line");
      return { name, unit: "requests/s", stepS: 1, values: Float64Array.from(values) };
    }
    case "arrivals": {
      const lines = dataLines(body, (line) => timeOf(firstColumn(line.text)));
      const times = lines.map(({ line, value }) => {
        refuseFinerThanSeconds(line, refuse);
        if (value !== undefined) return value;
        throw refuse(
          `${place(line)}, expected a time in the first column, for instance ` +
            "2023-11-16 18:17:03.97",
        );
      });
      if (lines.every(({ line }) => PLAIN_NUMBER.test(line.text))) refuseRates(times, refuse);
      return { name, unit: "requests/s", stepS: 1, ...countArrivals(times, refuse) };
    }
    case "cores":
    case "prometheus": {
      const remedy = format === "cores"
        ? "leave samples out, or give --format arrivals if each line is one request"
        : "query with a step of 1s or more";
      const samples = parseTimedValues(body, { ...options, format });
      return { name, unit: "cores", ...resample(samples, { refuse, remedy }) };
    }
  }
}

/** Samples at the times that they were taken at, gaps and all. Throws as {@linkcode parseTrace}. */
export function parseTimedValues(text: string, options: TimedOptions): readonly TimedValue[] {
  const { format, most = MAX_VALUE, counted = "cores" } = options;
  const refuse = traceRefusal(options);
  const body = text.replace(/^\uFEFF/, "");
  if (format === "prometheus") return parsePrometheus(body, { refuse, most, counted });
  return dataLines(body, (line) => timedValue(line.text, most)).map(({ line, value }) => {
    refuseFinerThanSeconds(line, refuse);
    if (value !== undefined) return value;
    throw refuse(
      `${place(line)}, expected a timestamp and a number from 0 to ${exponent(most)}, for ` +
        "instance 1628640000,39.72",
    );
  });
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
  return (line.split(",", 1)[0] ?? "").trim();
}

/** A plain decimal number from 0 to `most`. */
function numberOf(text: string, most: number): number | undefined {
  if (!/^\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return value <= most ? value : undefined;
}

const PLAIN_NUMBER = /^\d+(\.\d+)?$/;

/** Seconds since some start: a number, or a date. */
function timeOf(text: string): number | undefined {
  if (PLAIN_NUMBER.test(text)) {
    const seconds = Number(text);
    return seconds < Infinity ? seconds : undefined;
  }
  const date = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/.exec(
    text,
  );
  if (date === null) return undefined;
  const seconds = Date.parse(`${date[1]}T${date[2]}${date[4] ?? "Z"}`) / 1000;
  return Number.isFinite(seconds) ? seconds + Number(`0${date[3] ?? ""}`) : undefined;
}

/** The least of each is a day in 1973; taken for seconds since 1970, 1e11 would be in the year 5138. */
const FINER_UNITS: readonly { unit: string; from: number; perSecond: string }[] = [
  { unit: "nanoseconds", from: 1e17, perSecond: "1e9" },
  { unit: "microseconds", from: 1e14, perSecond: "1e6" },
  { unit: "milliseconds", from: 1e11, perSecond: "1000" },
];

function refuseFinerThanSeconds(line: Line, refuse: (state: string) => SyntaxError): void {
  const text = firstColumn(line.text);
  const finer = PLAIN_NUMBER.test(text) && FINER_UNITS.find(({ from }) => Number(text) >= from);
  if (!finer) return;
  throw refuse(
    `line ${line.number} has the time ${text}, expected seconds; it looks like ${finer.unit}: ` +
      `divide by ${finer.perSecond}`,
  );
}

function timedValue(line: string, most: number): TimedValue | undefined {
  const columns = line.split(",");
  const atS = timeOf(firstColumn(line));
  const value = numberOf((columns[1] ?? "").trim(), most);
  return atS === undefined || value === undefined || columns.length !== 2
    ? undefined
    : { atS, value };
}

/** The ways in which a trace may be written; `parseTrace()` describes them. */
export const TRACE_FORMATS = ["rps", "cores", "arrivals", "prometheus"] as const;

/** How a trace is written. */
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/**
 * JSON is an answer of Prometheus; lines without a comma are request rates; a CSV of two columns is
 * `timestamp,value`, and any other a list of arrivals. The guess may be wrong where no line shows it:
 * a list of sparse arrivals with a second column, for instance, reads as usage. A guess
 * therefore says so, with {@linkcode guessRemark}.
 */
export function guessTraceFormat(text: string): TraceFormat {
  const body = text.replace(/^\uFEFF/, "").trimStart();
  if (body.startsWith("{") || body.startsWith("[")) return "prometheus";
  const [first = "", second = ""] = body.split("\n", 2);
  // The first line may hold column names.
  const sample = second.trim() === "" ? first : second;
  const columns = sample.split(",").length;
  if (columns === 1) return /[:T]/.test(sample) ? "arrivals" : "rps";
  return columns === 2 ? "cores" : "arrivals";
}

/** The message about a recognized format; JSON can be nothing else. */
export function guessRemark(format: TraceFormat): string | undefined {
  return format === "prometheus" ? undefined : `read as ${format}; give --format otherwise`;
}

/** A year of seconds: longer is a mistake in the time column. */
const MAX_SECONDS = 366 * 86_400;

/** Times of requests are recorded nearly in order: more lines than this share fall in a rate alone. */
const MOST_FALLS = 0.1;

/** Throws what `refuse` makes of a reason when the times are the values of a rate rather. */
function refuseRates(times: readonly number[], refuse: (state: string) => Error): void {
  const falls = times.filter((time, index) => time < (times[index - 1] ?? 0)).length;
  if (falls <= MOST_FALLS * times.length) return;
  throw refuse(
    `its times fall at ${falls} of ${times.length} lines, which looks like a rate per second: ` +
      "give --format rps, or sort it if each line is the time of a request",
  );
}

/**
 * Requests per second from the second of the first on, and their times from there. Throws what
 * `refuse` makes of a reason when there is none, or more than a year between two.
 */
function countArrivals(
  times: readonly number[],
  refuse: (state: string) => Error,
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
