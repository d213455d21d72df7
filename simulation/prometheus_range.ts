/**
 * The answer of a Prometheus range query, as saved by a user.
 *
 * @module
 */
import { z } from "zod";
import type { TimedValue } from "./resample.ts";

const rangeSchema = z.object({
  status: z.literal("success"),
  data: z.object({
    resultType: z.literal("matrix"),
    result: z.array(z.object({
      values: z.array(z.tuple([z.number(), z.string()])),
    })),
  }),
});

/** The answer to a query that Prometheus could not run. */
const errorSchema = z.object({
  status: z.literal("error"),
  errorType: z.string(),
  error: z.string(),
});

/** How an answer is to be read. */
export interface PrometheusOptions {
  /** The error of a reason. */
  readonly refuse: (state: string) => Error;
  /** The largest value that is taken. @default {1e9} */
  readonly most?: number;
  /** What is counted, for messages. @default {"cores"} */
  readonly counted?: string;
}

/**
 * The samples of the answer's only series. Throws what `refuse` makes of a reason: not JSON, an error
 * of Prometheus's own, not a range query, no or several series, a value that is no such number.
 */
export function parsePrometheus(
  text: string,
  { refuse, most = 1e9, counted = "cores" }: PrometheusOptions,
): readonly TimedValue[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw refuse(`it is not JSON (${error instanceof Error ? error.message : error})`);
  }
  const failed = errorSchema.safeParse(json);
  if (failed.success) {
    const { errorType, error } = failed.data;
    throw refuse(`Prometheus answered with an error, ${errorType}: ${error}`);
  }
  const parsed = rangeSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw refuse(
      `${issue?.path.join(".") || "the document"}: ${issue?.message}, expected the JSON of ` +
        "/api/v1/query_range with status success and a matrix",
    );
  }
  const series = parsed.data.data.result;
  const [only] = series;
  if (only === undefined) throw refuse("it has no series: the query found nothing in that time");
  if (series.length > 1) {
    throw refuse(`it has ${series.length} series, expected one: aggregate the query with sum()`);
  }
  return only.values.map(([atS, value], index) => {
    const number = value.trim() === "" ? NaN : Number(value);
    if (number >= 0 && number <= most) return { atS, value: number };
    const bounds = `from 0 to ${most.toExponential().replace("e+", "e")}`;
    throw refuse(
      `data.result.0.values.${index} is "${value}" at ${atS}, expected a number of ${counted} ${bounds}`,
    );
  });
}
