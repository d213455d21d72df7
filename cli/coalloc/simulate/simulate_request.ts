/**
 * The request that the flags of `simulate` make. Pure.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import type { ResourceName } from "../../../shared/api/pod.ts";
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

/** A replay of CPU usage under each algorithm. */
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

/** A replay of a policy, with `--policy`. */
export interface PolicyRequest {
  /** Path of the manifest. */
  readonly policy: string;
  readonly source: HistorySource;
  /** The resource that the history shows. */
  readonly resource: ResourceName;
  readonly output: OutputFormat;
}

/** The flags as commander parses them. */
interface SimulateFlags {
  readonly trace?: string;
  readonly policy?: string;
  readonly history?: string;
  readonly resource?: ResourceName;
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

/** Flags of the replay of latencies that the replay of a policy does not have. */
const FOREIGN: readonly (readonly [name: string, flag: string])[] = [
  ["trace", "--trace"],
  ["request", "--request"],
  ["limit", "--limit"],
  ["scaleP95", "--scale-p95"],
  ["sloMs", "--slo-ms"],
  ["html", "--html"],
];

/** The request of these flags, or the sentence that says which of them exclude each other. */
export function simulateRequest(
  given: Readonly<Record<string, unknown>>,
): SimulateRequest | string {
  const flags = given as unknown as SimulateFlags;
  const { trace, request, limit, costMs, seeds, minutes } = flags;
  if (trace === undefined) {
    return "Cannot simulate: give a history with --trace, or with --policy and --history";
  }
  if (request !== undefined && limit !== undefined && request > limit) {
    return `Cannot simulate: --request ${formatCPU(request)} is above --limit ${formatCPU(limit)}`;
  }
  const source = sourceOf(trace, flags);
  if (typeof source === "string") return source;
  const output = outputOf(flags);
  if (output === undefined) {
    return "Cannot simulate: of --json, --html and --output only one can be had";
  }
  return {
    source,
    ...defined({ request, originalLimit: limit, p95Cores: flags.scaleP95, sloMs: flags.sloMs }),
    costMs,
    seeds,
    minutes,
    output,
  };
}

/** Whether a policy is to be replayed. */
export function asksForPolicy(flags: Readonly<Record<string, unknown>>): boolean {
  return ["policy", "history", "resource"].some((name) => flags[name] !== undefined);
}

/** As {@linkcode simulateRequest}, for the replay of a policy. */
export function policyRequest(given: Readonly<Record<string, unknown>>): PolicyRequest | string {
  const flags = given as unknown as SimulateFlags;
  const { policy, history, resource = "cpu" } = flags;
  if (policy === undefined) return "Cannot simulate: --history and --resource go with --policy";
  if (history === undefined) return "Cannot simulate: --policy needs a --history to replay";
  const foreign = FOREIGN.find(([name]) => given[name] !== undefined);
  if (foreign !== undefined) return `Cannot simulate: ${foreign[1]} does not go with --policy`;
  const source = sourceOf(history, flags);
  if (typeof source === "string") return source;
  const output = outputOf(flags);
  return output === undefined || output === "html"
    ? "Cannot simulate: of --json and --output only one can be had"
    : { policy, source, resource, output };
}

function sourceOf(path: string, { format, series }: SimulateFlags): HistorySource | string {
  return series !== undefined && format !== undefined && format !== "prometheus"
    ? `Cannot simulate: --series chooses in a Prometheus export, and --format is ${format}`
    : defined({ path, format, series });
}

function outputOf({ output, json, html }: SimulateFlags): SimulateRequest["output"] | undefined {
  const forms = [output, json && "json" as const, html && "html" as const];
  const asked = new Set(forms.filter((one) => one !== undefined));
  const [only = "table"] = asked;
  return asked.size > 1 ? undefined : only;
}
