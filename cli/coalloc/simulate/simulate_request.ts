/**
 * What `simulate` is asked for, from its flags. Pure.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import type { TraceFormat } from "../../../lab/simulation/trace.ts";
import type { OutputFormat } from "../output.ts";

/** Where the history is, and how it is written. */
export interface HistorySource {
  /** `-` is standard input. */
  readonly path: string;
  /** Absent: its content shows it. */
  readonly format?: TraceFormat;
  /** Labels of the series that is meant, by name. */
  readonly series?: ReadonlyMap<string, string>;
}

/** What the user asked for. */
export interface SimulateRequest {
  readonly source: HistorySource;
  /** Millicores; see `TraceSceneOptions` for those left out. */
  readonly request?: number;
  readonly originalLimit?: number;
  /** The 95th percentile that the load is scaled to, CPUs. */
  readonly p95Cores?: number;
  /** Mean CPU time of a request, ms. */
  readonly costMs: number;
  /** P99 latency that must be kept, ms. */
  readonly sloMs?: number;
  readonly seeds: number;
  /** At most so many minutes of the history. */
  readonly minutes: number;
  /** `html` is the page. */
  readonly output: OutputFormat | "html";
}

/** What commander hands over after parsing. */
interface SimulateFlags {
  readonly trace?: string;
  readonly format?: TraceFormat;
  readonly series?: ReadonlyMap<string, string>;
  readonly scaleP95?: number;
  readonly request?: number;
  readonly limit?: number;
  readonly costMs: number;
  readonly sloMs?: number;
  readonly seeds: number;
  readonly minutes: number;
  readonly output?: OutputFormat;
  readonly json?: true;
  readonly html?: true;
}

/** The request of these flags, or the sentence that says which of them exclude each other. */
export function simulateRequest(
  given: Readonly<Record<string, unknown>>,
): SimulateRequest | string {
  const flags = given as unknown as SimulateFlags;
  const { request, limit, format, series, costMs, seeds, minutes } = flags;
  if (flags.trace === undefined) {
    return "Cannot simulate: give a history with --trace, or with --policy and --history";
  }
  if (request !== undefined && limit !== undefined && request > limit) {
    return `Cannot simulate: --request ${formatCPU(request)} is above --limit ${formatCPU(limit)}`;
  }
  if (series !== undefined && format !== undefined && format !== "prometheus") {
    return `Cannot simulate: --series chooses in a Prometheus export, and --format is ${format}`;
  }
  const output = outputOf(flags);
  if (output === undefined) {
    return "Cannot simulate: of --json, --html and --output only one can be had";
  }
  return {
    source: { path: flags.trace, ...defined({ format, series }) },
    ...defined({ request, originalLimit: limit, p95Cores: flags.scaleP95, sloMs: flags.sloMs }),
    costMs,
    seeds,
    minutes,
    output,
  };
}

function outputOf({ output, json, html }: SimulateFlags): SimulateRequest["output"] | undefined {
  const asked = new Set<SimulateRequest["output"]>();
  if (output !== undefined) asked.add(output);
  if (json) asked.add("json");
  if (html) asked.add("html");
  const [only = "table"] = asked;
  return asked.size > 1 ? undefined : only;
}

/** The command line, fit for a shell. */
export function simulateCommandLine(request: SimulateRequest): string {
  const { source: { path, format, series }, output, ...rest } = request;
  const { request: asked, originalLimit, p95Cores, costMs, sloMs, seeds, minutes } = rest;
  const chosen = series === undefined
    ? undefined
    : [...series].map(([name, value]) => `${name}=${value}`).join(",");
  const flags: readonly (readonly [flag: string, value: string | number | undefined])[] = [
    ["--trace", path],
    ["--format", format],
    ["--series", chosen],
    ["--scale-p95", p95Cores],
    ["--request", asked === undefined ? undefined : formatCPU(asked)],
    ["--limit", originalLimit === undefined ? undefined : formatCPU(originalLimit)],
    ["--cost-ms", costMs],
    ["--slo-ms", sloMs],
    ["--seeds", seeds],
    ["--minutes", minutes],
  ];
  const parts = flags.flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, quoted(String(value))]
  );
  const end = output === "html" ? ["--html > page.html"] : [];
  return ["kubectl coalloc simulate", ...parts, ...end].join(" ");
}

/** As it is where a shell takes it so, else in single quotes. */
function quoted(part: string): string {
  return /^[\w./=,:@%+-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`;
}
