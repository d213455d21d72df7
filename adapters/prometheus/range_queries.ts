/**
 * Range queries of Prometheus.
 *
 * @module
 */
import type { HTTPLogin } from "../http_login.ts";
import { partialAnswer, type PrometheusProblem, requestPrometheus } from "./prometheus_request.ts";

/** The points of one series, ascending; points without a finite value are left out. */
export interface RangePoints {
  /** Ms since 1970. */
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
}

/** A series of a response. */
export interface PrometheusSeries extends RangePoints {
  readonly labels: Readonly<Record<string, string>>;
}

/** A query, and the times at which it is evaluated. */
export interface PrometheusRange {
  /** For instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  readonly query: string;
  /** Both ends are evaluated, ms since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** Bounds and login of the queries. */
export interface RangeQueriesOptions {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** @default {30000} */
  readonly timeoutMs?: number;
  /** Most bytes of one response: some 25 bytes per point. @default {33554432, which is 32 MiB} */
  readonly maxBytes?: number;
  /** @default anonymous */
  readonly login?: HTTPLogin;
}

/** Queries `GET /api/v1/query_range`. */
export interface PrometheusRangeQueries {
  /**
   * Resolves within the timeout in any case; `signal` ends the wait. An incomplete response is a
   * problem: usage would seem to be too low.
   */
  ask(
    question: PrometheusRange,
    signal: AbortSignal,
  ): Promise<{ readonly series: readonly PrometheusSeries[] } | PrometheusProblem>;
}

const UNREADABLE: PrometheusProblem = {
  problem: "unreadable",
  message: "the query gives no series of numbers over time",
};

/** Creates a client; its only state are open connections. */
export function createRangeQueries(
  { timeoutMs = 30_000, maxBytes = 32 * 1024 * 1024, ...request }: RangeQueriesOptions,
): PrometheusRangeQueries {
  return {
    async ask({ server, query, startMs, endMs, stepMs }, signal) {
      const parameters = {
        query,
        start: seconds(startMs),
        end: seconds(endMs),
        step: seconds(stepMs),
        // The server stops at the timeout, too.
        timeout: `${timeoutMs}ms`,
      };
      const answer = await requestPrometheus(
        {
          server,
          path: "/api/v1/query_range",
          parameters,
          timeoutMs,
          maxBytes,
          parse: parseRangeText,
          ...request,
        },
        signal,
      );
      if ("problem" in answer) return answer;
      const partial = partialAnswer(answer);
      if (partial !== undefined) return partial;
      const series = matrixOf(answer.data);
      return series === undefined ? UNREADABLE : { series };
    },
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/**
 * The series; undefined for anything else. No schema: one cycle over 5,000 containers has 7 million
 * points, for which zod takes half a minute and this takes seconds.
 */
function matrixOf(data: unknown): readonly PrometheusSeries[] | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { resultType, result } = data as { resultType?: unknown; result?: unknown };
  if (resultType !== "matrix" || !Array.isArray(result)) return undefined;
  const series: PrometheusSeries[] = [];
  for (const raw of result as readonly unknown[]) {
    const parsed = typeof raw === "object" && raw !== null ? seriesOf(raw) : undefined;
    if (parsed === undefined) return undefined;
    series.push(parsed);
  }
  return series;
}

function seriesOf(
  { metric, values }: { readonly metric?: unknown; readonly values?: unknown },
): PrometheusSeries | undefined {
  const labels = labelsOf(metric);
  if (labels === undefined) return undefined;
  const points = isRangePoints(values) ? values : pointsOf(values);
  return points && { labels, ...points };
}

/** Reads points that `parseRangeText` left as JSON. */
function pointsOf(values: unknown): RangePoints | undefined {
  // A native histogram has `histograms` in place of `values`.
  if (!Array.isArray(values)) return undefined;
  const timesMs = new Float64Array(values.length);
  const numbers = new Float64Array(values.length);
  let count = 0;
  for (const point of values as readonly unknown[]) {
    if (!Array.isArray(point)) return undefined;
    const [atS, text]: readonly unknown[] = point;
    if (typeof atS !== "number" || typeof text !== "string") return undefined;
    // `Number()` reads `NaN` and `+Inf` as NaN.
    const value = text === "" ? NaN : Number(text);
    if (!Number.isFinite(value)) continue;
    timesMs[count] = Math.round(1000 * atS);
    numbers[count++] = value;
  }
  return { timesMs: timesMs.subarray(0, count), values: numbers.subarray(0, count) };
}

function labelsOf(metric: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof metric !== "object" || metric === null || Array.isArray(metric)) return undefined;
  const labels = metric as Readonly<Record<string, unknown>>;
  return Object.values(labels).every((value) => typeof value === "string")
    ? labels as Readonly<Record<string, string>>
    : undefined;
}

const KEY = '"values":[';

/**
 * Parses JSON, but returns each `"values":[[1700000000.5,"12"],…]` as a `RangePoints`. As arrays and
 * texts 3,600 points take half a megabyte; ten workers have twenty responses at a time, which outlive a
 * small young generation: V8 would keep some 150 MB.
 *
 * Points in another notation, with blanks for instance, are left as JSON. Throws a `SyntaxError` for text
 * that is no JSON, but checks points less strictly than `JSON.parse`.
 */
export function parseRangeText(text: string): unknown {
  const found: RangePoints[] = [];
  /** The text with the index in `found` in place of points. */
  const shortened: string[] = [];
  let from = 0;
  for (let at = text.indexOf(KEY); at >= 0; at = text.indexOf(KEY, from)) {
    const begin = at + KEY.length;
    // A quote behind a backslash is part of a text.
    const read = text[at - 1] === "\\" ? undefined : readPoints(text, begin);
    if (read === undefined) return JSON.parse(text);
    shortened.push(text.slice(from, begin - 1), String(found.length));
    found.push(read.points);
    from = read.end;
  }
  shortened.push(text.slice(from));
  return JSON.parse(
    shortened.join(""),
    (key, value: unknown) =>
      key === "values" && typeof value === "number" ? found[value] ?? value : value,
  );
}

/** Whether `parseRangeText` has read these points. */
export function isRangePoints(values: unknown): values is RangePoints {
  return typeof values === "object" && values !== null && "timesMs" in values &&
    values.timesMs instanceof Float64Array;
}

/** Reads the points from the index `begin`; `end` is the index behind their closing bracket. */
function readPoints(
  text: string,
  begin: number,
): { readonly points: RangePoints; readonly end: number } | undefined {
  const timesMs: number[] = [];
  const values: number[] = [];
  for (let at = begin;; at++) {
    const comma = text.indexOf(",", at);
    const end = text.indexOf('"]', comma);
    if (text[at] !== "[" || text[comma + 1] !== '"' || end < 0) return undefined;
    const second = text.slice(at + 1, comma);
    const amount = text.slice(comma + 2, end);
    const timeMs = Math.round(1000 * Number(second));
    if (second === "" || Number.isNaN(timeMs)) return undefined;
    const value = amount === "" ? NaN : Number(amount);
    if (Number.isFinite(value)) {
      timesMs.push(timeMs);
      values.push(value);
    } else if (/["\\]/.test(amount)) return undefined;
    at = end + 2;
    if (text[at] === "]") {
      const points = { timesMs: Float64Array.from(timesMs), values: Float64Array.from(values) };
      return { points, end: at + 1 };
    }
    if (text[at] !== ",") return undefined;
  }
}
