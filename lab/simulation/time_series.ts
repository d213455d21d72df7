/**
 * Values at even steps of time, and those that Prometheus answers.
 *
 * @module
 */
import { z } from "zod";

/** A value and its time, s. */
export interface TimedValue {
  readonly atS: number;
  readonly value: number;
}

/** Two years of minutes: more is a mistake in the timestamps. */
const MAX_VALUES = 1_100_000;

/** A sampler of every second is a little early at times; requests come at any distance. */
const LEAST_GAP_S = 0.9;

/** The errors of unusable samples. */
export interface ResampleOptions {
  readonly refuse: (state: string) => Error;
  /** A remedy where samples are too near to each other. */
  readonly remedy: string;
}

/**
 * Values at the step that is most frequent between neighbours (the shortest of equals), from the
 * first sample to the last; between samples that are further apart they are interpolated linearly.
 * A single sample has a step of 60 s. Throws what `refuse` makes of a reason when there is no
 * sample, when times do not grow by about a second at least, or when the gaps are out of proportion.
 */
export function resample(
  samples: readonly TimedValue[],
  { refuse, remedy }: ResampleOptions,
): { stepS: number; values: Float64Array } {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined) {
    throw refuse("it is empty, expected one timestamp and value per sample");
  }
  const gaps = samples.slice(1).map((sample, before) => {
    const previous = samples[before] ?? sample;
    const gapS = sample.atS - previous.atS;
    if (!(gapS >= LEAST_GAP_S)) {
      const place = `sample ${before + 2} has the time ${sample.atS} after ${previous.atS}`;
      throw refuse(
        gapS <= -LEAST_GAP_S
          ? `${place}, expected growing times: sort it`
          : `${place}, expected at least 1 s between samples: ${remedy}`,
      );
    }
    return Math.round(gapS * 1000) / 1000;
  });
  const stepS = mostFrequent(gaps) ?? 60;
  const length = Math.floor((last.atS - first.atS) / stepS + 1e-6) + 1;
  if (length > MAX_VALUES) {
    throw refuse(
      `it spans ${length} steps of ${stepS} s, expected at most ${MAX_VALUES}: cut it or check its times`,
    );
  }
  const values = new Float64Array(length);
  let right = 0;
  for (let index = 0; index < length; index++) {
    const atS = first.atS + index * stepS;
    while (right < samples.length - 1 && (samples[right]?.atS ?? 0) < atS) right++;
    const after = samples[right] ?? last;
    const before = samples[right - 1] ?? after;
    const ahead = after.atS > before.atS ? (atS - before.atS) / (after.atS - before.atS) : 1;
    const share = Math.min(1, ahead);
    values[index] = before.value * (1 - share) + after.value * share;
  }
  return { stepS, values };
}

/** The number that is most frequent, the least of equals; undefined of none. */
export function mostFrequent(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts].sort(([a, often], [b, oftener]) => oftener - often || a - b)[0]?.[0];
}

const rangeSchema = z.object({
  status: z.literal("success"),
  data: z.object({
    resultType: z.literal("matrix"),
    result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })),
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
  readonly refuse: (state: string) => Error;
  /** The largest value that is taken. @default {1e9} */
  readonly most?: number;
  /** The counted unit, for messages. @default {"cores"} */
  readonly counted?: string;
}

/**
 * The samples of the answer's only series. Throws what `refuse` makes of a reason: not JSON, an error
 * of Prometheus's own, not a range query, no or several series, a value that is not a number.
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
    const bounds = `from 0 to ${exponent(most)}`;
    throw refuse(
      `data.result.0.values.${index} is "${value}" at ${atS}, expected a number of ${counted} ${bounds}`,
    );
  });
}

/** A power of ten as people write it: 1e9, not 1000000000. */
export function exponent(value: number): string {
  return value.toExponential().replace("e+", "e");
}
