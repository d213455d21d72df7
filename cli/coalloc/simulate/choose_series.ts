/**
 * One series of a Prometheus export that has several. Pure.
 *
 * @module
 */
import { z } from "zod";

const exportSchema = z.looseObject({
  data: z.looseObject({
    result: z.array(z.looseObject({
      metric: z.record(z.string(), z.string()).optional(),
    })),
  }),
});

type Labels = Readonly<Record<string, string>>;

/** Series that a refusal lists at most. */
const MOST_LISTED = 8;

/** Which series is meant. */
export interface SeriesChoice {
  /** Labels that it must have, by name; without them there must be only one. */
  readonly wanted?: ReadonlyMap<string, string>;
  /** The error of a reason. */
  readonly refuse: (state: string) => Error;
}

/**
 * The export with the wanted series alone. What is no export at all, or has no series, is left as it
 * is: the parser says what is wrong with it. Throws what `refuse` makes when not exactly one series
 * is meant, with the labels to choose by.
 */
export function chooseSeries(text: string, { wanted = new Map(), refuse }: SeriesChoice): string {
  const parsed = exportSchema.safeParse(jsonOf(text));
  if (!parsed.success || parsed.data.data.result.length === 0) return text;
  const { data } = parsed.data;
  const series = data.result;
  const meant = series.filter(({ metric = {} }) =>
    [...wanted].every(([name, value]) => metric[name] === value)
  );
  if (meant.length === 1) {
    return JSON.stringify({ ...parsed.data, data: { ...data, result: meant } });
  }
  const all = series.map(({ metric = {} }) => metric);
  if (meant.length === 0) {
    throw refuse(`none of its series has ${list([...wanted])}; it has ${labelsOf(all)}`);
  }
  const labels = meant.map(({ metric = {} }) => metric);
  const found = wanted.size === 0
    ? `it has ${meant.length} series`
    : `${meant.length} of its series have ${list([...wanted])}`;
  const example = distinguishingLabel(labels);
  const remedy = example === undefined
    ? "their labels don't distinguish them: aggregate the query with sum()"
    : `choose one, for instance --series ${example}, or aggregate the query with sum()`;
  throw refuse(`${found}: ${labelsOf(labels)}; ${remedy}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `label=value` of the first series by a label that differs from series to series. */
function distinguishingLabel(series: readonly Labels[]): string | undefined {
  const [first = {}] = series;
  const differs = ([name]: [string, string]) =>
    new Set(series.map((labels) => labels[name])).size === series.length;
  const [name, value] = Object.entries(first).find(differs) ?? [];
  return name === undefined ? undefined : `${name}=${value}`;
}

function labelsOf(series: readonly Labels[]): string {
  const shown = series.slice(0, MOST_LISTED).map((labels) => `{${list(Object.entries(labels))}}`);
  const more = series.length > shown.length ? `, and ${series.length - shown.length} more` : "";
  return shown.join(", ") + more;
}

function list(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${name}=${value}`).join(",");
}
