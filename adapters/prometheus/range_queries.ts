/**
 * Queries of a time span, answered by a Prometheus.
 *
 * @module
 */
import type { HTTPLogin } from "../http_login.ts";
import { partialAnswer, type PrometheusProblem, requestPrometheus } from "./prometheus_request.ts";
import { isRangePoints, parseRangeText, type RangePoints } from "./range_points.ts";

/** Points of one series, ascending. */
export interface PrometheusSeries extends RangePoints {
  readonly labels: Readonly<Record<string, string>>;
}

/** A query, and the moments at which it is evaluated. */
export interface PrometheusRange {
  /** For instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  readonly query: string;
  /** Both ends are moments of it, ms since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** How long and how much, and who asks. */
export interface RangeQueriesOptions {
  /** @default {30000} */
  readonly timeoutMs?: number;
  /** Of one answer: some 25 bytes a point. @default {33554432, which is 32 MiB} */
  readonly mostBytes?: number;
  /** @default nobody in particular */
  readonly login?: HTTPLogin;
}

/** Asks `GET /api/v1/query_range`. */
export interface PrometheusRangeQueries {
  /**
   * Resolves within the timeout, whatever happens; `signal` ends the wait. An answer in which something
   * is missing is a problem: of what was used it would tell too little.
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

/** An adapter; it keeps no state but open connections. */
export function createRangeQueries(
  { timeoutMs = 30_000, mostBytes = 32 * 1024 * 1024, ...login }: RangeQueriesOptions = {},
): PrometheusRangeQueries {
  return {
    async ask({ server, query, startMs, endMs, stepMs }, signal) {
      const parameters = {
        query,
        start: seconds(startMs),
        end: seconds(endMs),
        step: seconds(stepMs),
        // The server gives up when nobody waits any more.
        timeout: `${timeoutMs}ms`,
      };
      const answer = await requestPrometheus(
        {
          server,
          path: "/api/v1/query_range",
          parameters,
          timeoutMs,
          mostBytes,
          parse: parseRangeText,
          ...login,
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

interface RawSeries {
  readonly metric?: unknown;
  readonly values?: unknown;
}

/**
 * The series; undefined for anything else. Read by hand: a pass over 5,000 containers has 7 million
 * points, for which a schema would take half a minute and this takes seconds.
 */
function matrixOf(data: unknown): readonly PrometheusSeries[] | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { resultType, result } = data as { resultType?: unknown; result?: unknown };
  if (resultType !== "matrix" || !Array.isArray(result)) return undefined;
  const series: PrometheusSeries[] = [];
  for (const raw of result as readonly unknown[]) {
    const one = typeof raw === "object" && raw !== null ? seriesOf(raw) : undefined;
    if (one === undefined) return undefined;
    series.push(one);
  }
  return series;
}

function seriesOf({ metric, values }: RawSeries): PrometheusSeries | undefined {
  const labels = labelsOf(metric);
  if (labels === undefined) return undefined;
  const points = isRangePoints(values) ? values : pointsOf(values);
  return points && { labels, ...points };
}

/** Points that were not read from the text. */
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
    // `NaN` is one, and `+Inf` becomes one.
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
