/**
 * `report`: what the product did in a period, by the present objects and, if given, a Prometheus. Writes
 * nothing to the cluster.
 *
 * @module
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { unlessNotFound } from "../../../adapters/kube/client/connection.ts";
import { refusalOf, valueOf } from "../../../shared/config/kinds.ts";
import { labelMatchersKind } from "../../../shared/config/server_kinds.ts";
import { defined } from "../../../shared/defined.ts";
import type { Prices } from "../../../shared/rightsizing/prices.ts";
import { adviseAll } from "../../../shared/view/advise.ts";
import { durationParser, placeOf } from "../formats.ts";
import { examples, INTERRUPTED } from "../global_flags.ts";
import { readNodes } from "../node_readings.ts";
import { structuredOutput } from "../output.ts";
import { type CommandContext, CommandProblem } from "../ports.ts";
import { readRecommendations } from "../recommend/recommend_command.ts";
import { readHistory } from "./read_history.ts";
import { reportMarkdown, reportPage, reportText } from "./report_pages.ts";
import { reportView } from "./report_view.ts";

/** Forms of the report. */
export const REPORT_FORMATS = ["text", "markdown", "html", "json"] as const;

/** The flags of `report`. */
export interface ReportRequest {
  readonly sinceMs: number;
  readonly format: typeof REPORT_FORMATS[number];
  /** The address of a Prometheus. */
  readonly prometheus: string | undefined;
  /** Matchers for labels that all series of the cluster have. */
  readonly matchers: readonly string[];
  /** End of the period to compare with, ms since 1970; undefined: the beginning of the period. */
  readonly compareToMs: number | undefined;
  readonly prices: Prices | undefined;
}

/** The command without its action and the flags that all commands have. */
export function reportArguments(): Command {
  return new Command("report").summary("what the product did this week")
    .description(
      "What the product did in a period: limits above and below the original ones, throttled time,\n" +
        "requests saved and their price. Says which figures are missing, and why. History comes from a\n" +
        "Prometheus that collects the programs' metrics; without one the report has the present and what\n" +
        "is recorded.",
    )
    .addOption(
      new Option("--since <duration>", "the period until now").argParser(
        durationParser({ minMs: 3_600_000, maxMs: 90 * 86_400_000 }),
      ).default(7 * 86_400_000, "7d"),
    )
    .option("--prometheus <url>", "for instance http://127.0.0.1:9090, by a port-forward", urlOf)
    .option(
      "--prometheus-matchers <matchers>",
      'for instance cluster="prod", where that Prometheus knows several clusters',
      matchersOf,
    )
    .option(
      "--compare-to <date>",
      "compare with as long a period that ends then, for instance the day of the installation;\n" +
        "without it, with the one just before",
      dateOf,
    )
    .option("--core-hour <price>", "price of a requested core for an hour", priceOf)
    .option("--gib-hour <price>", "price of a requested GiB of memory for an hour", priceOf)
    .option("--currency <code>", "for instance EUR", "")
    .addHelpText(...examples([
      ["kubectl coalloc report -A", "the last seven days, by what the cluster keeps"],
      [
        "kubectl coalloc report -A --prometheus http://127.0.0.1:9090 --core-hour 0.03 " +
        "--gib-hour 0.004 --currency EUR -o html > report.html",
        "all figures, as a page",
      ],
    ]));
}

function urlOf(text: string): string {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError("Give an address such as http://127.0.0.1:9090");
  }
  return text.replace(/\/$/, "");
}

function priceOf(text: string): number {
  const price = Number(text);
  if (text.trim() === "" || !(price >= 0 && price < Infinity)) {
    throw new InvalidArgumentError("Give a number of at least 0, for instance 0.03");
  }
  return price;
}

function matchersOf(text: string): readonly string[] {
  const matchers = valueOf(labelMatchersKind, text);
  if (matchers !== undefined) return matchers;
  throw new InvalidArgumentError(refusalOf(labelMatchersKind, text) ?? "");
}

function dateOf(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError("Give a date such as 2026-01-31 or 2026-01-31T12:00:00Z");
}

/** The request by the command's flags, or the fault of these. */
export function reportRequest(flags: Readonly<Record<string, unknown>>): ReportRequest | string {
  const { coreHour, gibHour } = flags as { readonly coreHour?: number; readonly gibHour?: number };
  if ((coreHour === undefined) !== (gibHour === undefined)) {
    return "Cannot report: one price alone would count the other resource as free; give both " +
      "--core-hour and --gib-hour";
  }
  return {
    sinceMs: Number(flags.since),
    format: (flags.output ?? "text") as ReportRequest["format"],
    prometheus: flags.prometheus as string | undefined,
    matchers: (flags.prometheusMatchers ?? []) as readonly string[],
    compareToMs: flags.compareTo as number | undefined,
    prices: coreHour === undefined || gibHour === undefined
      ? undefined
      : { coreHour, gibHour, currency: String(flags.currency) },
  };
}

/** Shows the report. Resolves with the exit code. */
export async function reportCommand(
  { sinceMs, format, prometheus, matchers, compareToMs, prices }: ReportRequest,
  { cluster, world, namespace, style }: CommandContext,
): Promise<number> {
  const scope = defined({ namespace: namespace.all ? undefined : namespace.name });
  const nowMs = world.clock.wall();
  const fromMs = nowMs - sinceMs;
  const beforeMs = compareToMs ?? fromMs;
  if (beforeMs > fromMs) {
    throw new CommandProblem(
      "Cannot compare: the period to compare with must end before the other begins, at " +
        new Date(fromMs).toISOString(),
    );
  }
  // The market need not be installed, nor rightsizing.
  const read = cluster.reader.allocations(scope.namespace);
  const reader = { ...cluster.reader, allocations: () => read };
  const [market, recommendations] = await Promise.all([
    unlessNotFound(readNodes({ ...cluster, reader }, scope)),
    readRecommendations({ ...cluster, reader }, { namespace }).catch((error: unknown) => {
      if (error instanceof CommandProblem) return error.message;
      throw error;
    }),
  ]);
  const { allocations = [], views = [], problems: agentProblems = [] } = market ?? {};
  const pods = views.flatMap(({ pods }) => pods).filter((pod) =>
    namespace.all || pod.namespace === namespace.name
  );
  // A week of a large cluster takes minutes.
  const progress = world.errIsTerminal ? world.progress : () => {};
  const history = await readHistory(
    {
      server: prometheus,
      matchers,
      nowMs,
      sinceMs,
      beforeMs,
      namespace,
      pods: allocations.length,
      namespaces: [...new Set(allocations.map(({ metadata }) => metadata.namespace))].toSorted(),
    },
    {
      ask: world.queryRange,
      signal: world.signal,
      onProgress: (done, all) => progress(`\r\x1b[KAsking Prometheus: ${done} of ${all} figures`),
    },
  );
  if (prometheus !== undefined) progress("\r\x1b[K");
  if (world.signal.aborted) return INTERRUPTED;
  const view = reportView({
    ...history,
    place: placeOf(namespace),
    ...{ nowMs, sinceMs, beforeMs, prices, allocations, pods, agentProblems },
    ...(typeof recommendations === "string"
      ? { advised: [], problems: [recommendations] }
      : { advised: adviseAll(recommendations), problems: recommendations.problems }),
  });
  switch (format) {
    case "markdown":
      world.out(reportMarkdown(view));
      break;
    case "html":
      world.out(await reportPage(view));
      break;
    default:
      world.out(
        structuredOutput(view, format === "json" ? "json" : "table") ?? reportText(view, style),
      );
  }
  return 0;
}
