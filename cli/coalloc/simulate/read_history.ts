/**
 * The user's files: a history of load or of usage, and a policy.
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import type { ReplayedPolicy } from "../../../lab/simulation/rightsizing/replay_policy.ts";
import {
  guessTraceFormat,
  parseTrace,
  type TraceFormat,
  traceRefusal,
} from "../../../lab/simulation/trace.ts";
import { decodeText, guessOf, type TraceFile } from "../../../lab/simulation/trace_files.ts";
import { busiestWindow, requireLoad, wholeMinutes } from "../../../lab/simulation/trace_shape.ts";
import { faultText } from "../../../shared/api/fields.ts";
import { readPolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import { readFault } from "../../../lab/task/task.ts";
import { type CoallocWorld, CommandProblem } from "../ports.ts";
import type { HistorySource } from "./simulate_arguments.ts";

/** A history; its trace is the part that is played. */
export interface History extends TraceFile {
  readonly path: string;
  readonly minutes: number;
}

/** Reads the file's busiest minutes, or all of a shorter one. Throws a CommandProblem or a SyntaxError. */
export async function readHistory(
  source: HistorySource,
  { readFile, maxMinutes }: {
    readonly readFile: CoallocWorld["readFile"];
    readonly maxMinutes: number;
  },
): Promise<History> {
  const name = source.path;
  const guessed = source.format === undefined;
  const refusal = (format: TraceFormat) => traceRefusal({ format, name, guessed });
  const { body, format } = await readSource(source, { readFile, what: "trace", refusal });
  const refuse = refusal(format);
  const whole = parseTrace(body, { format, name, guessed });
  requireLoad(whole, refuse);
  const minutes = wholeMinutes(whole, refuse);
  // A step may be longer than the time to play.
  const trace = busiestWindow(whole, Math.max(maxMinutes * 60, whole.stepS));
  return { path: name, format, minutes, trace, ...(guessed ? guessOf(name, format) : {}) };
}

/** The text of a history, or of its chosen series, and its format. Throws an error that `refusal` makes. */
export async function readSource(
  { path, format, series }: HistorySource,
  { readFile, what, refusal }: Pick<CoallocWorld, "readFile"> & {
    readonly what: string;
    readonly refusal: (format: TraceFormat) => (state: string) => Error;
  },
): Promise<{ readonly body: string; readonly format: TraceFormat }> {
  const text = await readText(path, { readFile, what });
  const usedFormat = format ?? guessTraceFormat(text);
  const refuse = refusal(usedFormat);
  if (text.trim() === "") throw refuse("it is empty, expected a history of requests or CPU");
  if (series !== undefined && usedFormat !== "prometheus") {
    throw refuse(`it is taken for ${usedFormat}, and --series chooses in a Prometheus export`);
  }
  const body = usedFormat === "prometheus" ? chooseSeries(text, { refuse, wanted: series }) : text;
  return { body, format: usedFormat };
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
    result: z.array(z.looseObject({ metric: z.record(z.string(), z.string()).optional() })),
  }),
});

type Labels = Readonly<Record<string, string>>;

/** Most series that a refusal lists. */
const MAX_LISTED = 8;

/**
 * The export with only the series that has the wanted labels; without them there must be only one.
 * Another text, or an export without series, is unchanged: the parser names the fault. Throws an error
 * that `refuse` makes, with the labels to choose by, unless exactly one series matches.
 */
export function chooseSeries(
  text: string,
  { wanted = new Map(), refuse }: {
    readonly wanted?: ReadonlyMap<string, string> | undefined;
    readonly refuse: (state: string) => Error;
  },
): string {
  const parsed = exportSchema.safeParse(jsonOf(text));
  if (!parsed.success || parsed.data.data.result.length === 0) return text;
  const { data } = parsed.data;
  const series = data.result;
  const matching = series.filter(({ metric = {} }) =>
    [...wanted].every(([name, value]) => metric[name] === value)
  );
  if (matching.length === 1) {
    return JSON.stringify({ ...parsed.data, data: { ...data, result: matching } });
  }
  const all = series.map(({ metric = {} }) => metric);
  if (matching.length === 0) {
    throw refuse(`none of its series has ${textOf([...wanted])}; it has ${labelsOf(all)}`);
  }
  const labels = matching.map(({ metric = {} }) => metric);
  const found = wanted.size === 0
    ? `it has ${matching.length} series`
    : `${matching.length} of its series have ${textOf([...wanted])}`;
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
  const shown = series.slice(0, MAX_LISTED).map((labels) => `{${textOf(Object.entries(labels))}}`);
  const more = series.length > shown.length ? `, and ${series.length - shown.length} more` : "";
  return shown.join(", ") + more;
}

function textOf(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${name}=${value}`).join(",");
}

/** A policy and its name. */
export interface NamedPolicy {
  readonly name: string;
  readonly policy: ReplayedPolicy;
}

const KIND = "OptimizationPolicy";

const manifestSchema = z.looseObject({
  kind: z.literal(KIND),
  metadata: z.looseObject({ name: z.string() }).optional(),
  spec: z.unknown(),
});

/**
 * The only `OptimizationPolicy` among the file's YAML or JSON documents. Throws a `CommandProblem` that
 * names the file and what is wrong: no YAML, none or several policies, a field.
 */
export function policyInFile(text: string, path: string): NamedPolicy {
  const refuse = (state: string, cause?: unknown): CommandProblem =>
    new CommandProblem(`Cannot replay policy "${path}": ${state}`, { cause });
  const documents = parseAllDocuments(text);
  const policies = [...documents].flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw refuse(`it is not YAML: ${firstLine(error.message)}`, error);
    const read = manifestSchema.safeParse(document.toJS());
    return read.success ? [read.data] : [];
  });
  const [only] = policies;
  if (only === undefined || policies.length > 1) {
    throw refuse(`it has ${policies.length} objects of kind ${KIND}, expected one`);
  }
  const { spec: policy, faults } = readPolicySpec(only.spec, { provider: "prometheus" });
  if (policy === undefined) throw refuse(faults.map(faultText).join("; "));
  return { name: only.metadata?.name ?? path, policy };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.replace(/:$/, "") ?? "";
}
