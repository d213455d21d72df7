/**
 * The user's history: from a file to a trace that can be played.
 *
 * @module
 */
import { guessTraceFormat, parseTrace, traceRefusal } from "../../../lab/simulation/trace.ts";
import { decodeText, guessOf, type TraceFile } from "../../../lab/simulation/trace_files.ts";
import { busiestWindow, requireLoad, wholeMinutes } from "../../../lab/simulation/trace_shape.ts";
import { readFault } from "../../file_problem.ts";
import { type CoallocWorld, CommandProblem } from "../ports.ts";
import type { HistorySource } from "./simulate_request.ts";
import { z } from "zod";

/** A history; its trace is what of it is played. */
export interface History extends TraceFile {
  readonly path: string;
  readonly minutes: number;
}

/** The file's busiest minutes, all if it is shorter. Throws a CommandProblem or a SyntaxError. */
export async function readHistory(
  source: HistorySource,
  { readFile, mostMinutes }: {
    readonly readFile: CoallocWorld["readFile"];
    readonly mostMinutes: number;
  },
): Promise<History> {
  const { path, series } = source;
  const text = await readText(path, { readFile, what: "trace" });
  const format = source.format ?? guessTraceFormat(text);
  const guessed = source.format === undefined;
  const options = { format, name: path, guessed };
  const refuse = traceRefusal(options);
  if (text.trim() === "") throw refuse("it is empty, expected a history of requests or CPU");
  if (series !== undefined && format !== "prometheus") {
    throw refuse(`it is taken for ${format}, and --series chooses in a Prometheus export`);
  }
  const body = format === "prometheus" ? chooseSeries(text, { refuse, wanted: series }) : text;
  const whole = parseTrace(body, options);
  requireLoad(whole, refuse);
  const minutes = wholeMinutes(whole, refuse);
  // A step may be longer than what is to be played.
  const trace = busiestWindow(whole, Math.max(mostMinutes * 60, whole.stepS));
  return { path, format, minutes, trace, ...(guessed ? guessOf(path, format) : {}) };
}

/** The text of a file, plain or gzipped. */
export async function readText(
  path: string,
  { readFile, what }: Pick<CoallocWorld, "readFile"> & { readonly what: string },
): Promise<string> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new CommandProblem(`Cannot read ${what} "${path}": ${readFault(cause)}`, { cause });
  });
  return await decodeText(bytes, path);
}

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
  readonly wanted?: ReadonlyMap<string, string> | undefined;
  /** The error of a reason. */
  readonly refuse: (state: string) => Error;
}

/**
 * The export with the wanted series alone. Another text, or an export without series, stays as it
 * is: the parser names the fault. Throws what `refuse` makes when not exactly one series
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
