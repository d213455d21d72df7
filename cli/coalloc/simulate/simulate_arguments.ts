/**
 * The arguments of `simulate`: its flags and its help, and the request that the flags make.
 *
 * @module
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { cpuParser } from "../formats.ts";
import {
  filePath,
  FORMAT_HELP,
  formatOption,
  giveUpOption,
  numberWithin,
} from "../../../lab/task/task_flags.ts";
import { addOutputFlags, examples } from "../global_flags.ts";
import { defined } from "../../../shared/defined.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import type { ResourceName } from "../../../shared/api/pod.ts";
import type { TraceFormat } from "../../../lab/simulation/trace.ts";
import type { OutputFormat } from "../output.ts";

/** Random seeds, with one run of every algorithm for each. */
const DEFAULT_SEEDS = 5;
const MAX_SEEDS = 100;
/** Minutes that are played of a longer file. */
const DEFAULT_MINUTES = 60;
const MAX_MINUTES = 1440;
/** CPU time of a request, ms. */
const DEFAULT_COST_MS = 8;
const MIN_COST_MS = 0.1;
const MAX_COST_MS = 60_000;
const MAX_CORES = 512;
const MAX_SLO_MS = 3_600_000;

const DESCRIPTION =
  `Replays a recorded load of yours, without a cluster, under the limit as it is, static limits,
the Vertical Pod Autoscaler's rules and CoAllocator, and shows what would have happened:
latency, throttling, and the cores that limits would have taken.

Inside a sample of the file demand is modelled, with requests drawn at random around it; the
figures are medians over the seeds. One container is alone on a node that is never short.

With --policy it replays an OptimizationPolicy over days of usage instead: which requests it would
have set, what they would have covered and left idle, and how often its limits would have throttled
or killed.`;

const FORMATS = `
Formats of a history, plain or gzipped; left out, the content shows it:
${FORMAT_HELP}

Export one from Prometheus (a step of 30s or less shows more than one of minutes):
  curl -sG http://localhost:9090/api/v1/query_range -o cpu.json \\
    --data-urlencode 'query=sum by (pod) (rate(container_cpu_usage_seconds_total{
      namespace="shop", pod=~"web-.*", container!=""}[1m]))' \\
    -d start=$(date -d '-6 hours' +%s) -d end=$(date +%s) -d step=30s
Throttled demand is missing in such a history: a container that is throttled would have
used more.`;

/** The command without its handler. */
export function simulateArguments(): Command {
  const command = new Command("simulate")
    .summary("what would have happened to a recorded load")
    .description(DESCRIPTION)
    .option("--trace <file>", "the history; - reads standard input", historyPath)
    .option("--policy <file>", "replay this OptimizationPolicy instead; with --history", filePath)
    .option(
      "--history <file>",
      "usage over days, for --policy; - reads standard input",
      historyPath,
    )
    .addOption(
      new Option("--resource <name>", "what --history is of (default: cpu)")
        .choices(["cpu", "memory"]),
    )
    .addOption(formatOption("how it is written"))
    .option("--series <label=value>", "of several series in a Prometheus export, this one", labels)
    .option(
      "--scale-p95 <cores>",
      "scale the load so that its 95th percentile is this",
      numberWithin({ min: 0.01, max: MAX_CORES }),
    )
    .option(
      "--request <cpu>",
      "the container's own CPU request (default: half of the mean)",
      quantity,
    )
    .option(
      "--limit <cpu>",
      "the container's own CPU limit (default: four times the request)",
      quantity,
    )
    .option(
      "--cost-ms <ms>",
      "mean CPU time of one request",
      numberWithin({ min: MIN_COST_MS, max: MAX_COST_MS }),
      DEFAULT_COST_MS,
    )
    .option(
      "--slo-ms <ms>",
      "P99 that must be kept (default: 100 ms above that of no limit)",
      numberWithin({ min: 1, max: MAX_SLO_MS }),
    )
    .addOption(giveUpOption())
    .option(
      "--seeds <count>",
      "how often chance is drawn anew",
      numberWithin({ min: 1, max: MAX_SEEDS, whole: true }),
      DEFAULT_SEEDS,
    )
    .option(
      "--minutes <count>",
      "of a longer history, the busiest so many",
      numberWithin({ min: 1, max: MAX_MINUTES, whole: true }),
      DEFAULT_MINUTES,
    )
    .option("--json", "one JSON object, as -o json")
    .option("--html", "a page with plots to standard output, the table to standard error");
  return addOutputFlags(command).addHelpText("after", FORMATS).addHelpText(...examples([
    ["kubectl coalloc simulate --trace cpu.json --request 500m --limit 2", "your pod's history"],
    [
      "kubectl coalloc simulate --trace cpu.json --series pod=web-0 --html > page.html",
      "one of several series, with a page",
    ],
    ["kubectl coalloc simulate --trace rps.txt --cost-ms 20 --json", "a request rate, as data"],
    [
      "kubectl coalloc simulate --policy policy.yaml --history memory.json --resource memory",
      "what a policy would have done, in bytes",
    ],
  ]));
}

const quantity = cpuParser(MAX_CORES);

/** A single dash is standard input. */
function historyPath(text: string): string {
  return text === "-" ? text : filePath(text);
}

/** Labels by name, of `pod=web-0` or `namespace=shop,pod=web-0`. */
function labels(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(",").map((pair): [string, string] => {
    const [, name = "", value = ""] = /^\s*([^=\s]+)=(.*?)\s*$/.exec(pair) ?? [];
    if (name === "") throw new InvalidArgumentError("Give label=value, for instance pod=web-0");
    return [name, value.replace(/^"(.*)"$/, "$1")];
  });
  return new Map(pairs);
}

/** The file of a history, and its format. */
export interface HistorySource {
  /** `-` is standard input. */
  readonly path: string;
  /** Absent: its content shows it. */
  readonly format?: TraceFormat;
  /** Labels of the chosen series, by name. */
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
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
  /** The SLO of P99 latency, ms. */
  readonly sloMs?: number;
  readonly seeds: number;
  /** Most minutes of the history. */
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
interface SimulateFlags
  extends
    Pick<SimulateRequest, "costMs" | "giveUp" | "sloMs" | "seeds" | "minutes" | "request">,
    Partial<Pick<PolicyRequest, "policy" | "resource" | "output">>,
    Omit<HistorySource, "path"> {
  readonly trace?: string;
  readonly history?: string;
  readonly scaleP95?: number;
  readonly limit?: number;
  readonly json?: true;
  readonly html?: true;
}

/** Flags of the replay of latencies that the replay of a policy does not have. */
const FOREIGN = {
  trace: "--trace",
  request: "--request",
  limit: "--limit",
  scaleP95: "--scale-p95",
  sloMs: "--slo-ms",
  html: "--html",
};

/** The request by these flags, or their fault, as a sentence. */
export function simulateRequest(
  given: Readonly<Record<string, unknown>>,
): SimulateRequest | string {
  const flags = given as unknown as SimulateFlags;
  const { trace, request, limit, costMs, giveUp, seeds, minutes } = flags;
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
    giveUp,
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
  const [, foreign] = Object.entries(FOREIGN).find(([name]) => given[name] !== undefined) ?? [];
  if (foreign !== undefined) return `Cannot simulate: ${foreign} does not go with --policy`;
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
