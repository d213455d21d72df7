/**
 * Figures of the period from a Prometheus: the cluster itself keeps no history.
 *
 * @module
 */
import type { PrometheusRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import type { NamespaceChoice } from "../ports.ts";
import type { HistoryFigures, MissingFigure, ReportFigure } from "./report_view.ts";

/** Which periods, and where to ask. */
export interface HistoryRequest {
  /** Undefined: none was given. */
  readonly server: string | undefined;
  /** Of labels that all series of the cluster have, `cluster="prod"`. */
  readonly matchers: readonly string[];
  readonly nowMs: number;
  readonly sinceMs: number;
  /** End of the period to compare with, which is as long. */
  readonly beforeMs: number;
  readonly namespace: NamespaceChoice;
  /** Namespaces with pods in the market. */
  readonly namespaces: readonly string[];
}

/** A figure of a query with one value. */
interface Question extends Pick<ReportFigure, "key" | "title" | "unit" | "note"> {
  readonly source: "Prometheus" | "cAdvisor";
  /**
   * `PODS`, `ALL` and `CADVISOR` stand for matchers: of pods in the market, of the cluster, and of
   * containers in the namespaces of the former. `WINDOW` and `STEP` are the period and the distance
   * of samples in it, `SECONDS` is the period as a number.
   */
  readonly query: string;
  /** True where the metric has no namespace. */
  readonly ofCluster?: true;
  /** True where it is asked for the period before, too. */
  readonly compared?: true;
}

const RESIZES = 'mbcas_resizes_total{outcome="accepted",ALL}';
/** Programs that started in the period, or that Prometheus knew before it. */
const KNOWN_SINCE_START =
  "(max_over_time(process_start_time_seconds{ALL}[WINDOW]) > time() - SECONDS" +
  " or process_start_time_seconds{ALL} offset WINDOW)";
/** Containers are collected by several jobs in some clusters, and have another id after a restart. */
const ONCE = "max by (namespace,pod,container,id)";
const CADVISOR_NOTE =
  "of all containers in the namespaces that have pods in the market now, as the kubelets count it";

const QUESTIONS: readonly Question[] = [
  {
    key: "usageBeyondOriginal",
    title: "CPU used beyond original limits",
    unit: "cores",
    source: "Prometheus",
    query: "sum(sum_over_time(clamp_min(" +
      "mbcas_pod_usage_cores{PODS} - mbcas_pod_original_limit_cores{PODS}, 0)[WINDOW:STEP]))" +
      " / scalar(count_over_time(group(mbcas_node_allocatable_cores{ALL})[WINDOW:STEP]))",
    compared: true,
    note: "these would have refused it; mean over the time with data, pods that are gone included",
  },
  {
    key: "throttledSeconds",
    title: "Throttled time of pods in the market",
    unit: "seconds",
    source: "Prometheus",
    query: "sum(increase(mbcas_pod_throttled_seconds_total{PODS}[WINDOW]))",
    compared: true,
    note: "summed over threads",
  },
  {
    key: "limitChanges",
    title: "Changes of CPU limits",
    unit: "count",
    source: "Prometheus",
    // A series begins with its first change, which `increase` leaves out.
    query: `sum(increase(${RESIZES}[WINDOW])) + (sum((min_over_time(${RESIZES}[WINDOW]) unless ` +
      `${RESIZES} offset WINDOW) and on (job,instance) ${KNOWN_SINCE_START}) or vector(0))`,
    ofCluster: true,
    note: "accepted resizes, those of requests included",
  },
  {
    key: "scarceSeconds",
    title: "Time in which a node's CPU was scarce",
    unit: "seconds",
    source: "Prometheus",
    query: "sum(increase(mbcas_node_scarce_seconds_total{ALL}[WINDOW]))",
    ofCluster: true,
    note: "summed over nodes",
  },
  {
    key: "containersThrottledSeconds",
    title: "Throttled time of containers",
    unit: "seconds",
    source: "cAdvisor",
    query: `sum(${ONCE} (increase(container_cpu_cfs_throttled_seconds_total{CADVISOR}[WINDOW])))`,
    compared: true,
    note: CADVISOR_NOTE,
  },
  {
    key: "containersCPU",
    title: "CPU used by containers",
    unit: "core-hours",
    source: "cAdvisor",
    query: `sum(${ONCE} (increase(container_cpu_usage_seconds_total{CADVISOR}[WINDOW]))) / 3600`,
    compared: true,
    note: CADVISOR_NOTE,
  },
];

/** How many samples of a period each source has. */
const SAMPLES: Readonly<Record<Question["source"], string>> = {
  Prometheus: "count_over_time(group(mbcas_node_allocatable_cores{ALL})[WINDOW:STEP])",
  cAdvisor: "count_over_time(group(container_cpu_usage_seconds_total{CADVISOR})[WINDOW:STEP])",
};
/** More than one where several clusters are collected, or one twice; a failover takes seconds. */
const LEADERS = "min_over_time(sum(mbcas_leader{ALL})[10m:15s])";

/** Samples of a period: one in 10 min of a week, and not more than one in 15 s. */
const POINTS = 1000;
const LEAST_STEP_S = 15;
/** Of the period's samples; with fewer before it, the two are not compared. */
const COMPARABLE = 0.95;

/** The answer to a query; undefined where there is no series. */
type Answer = number | { readonly problem: string } | undefined;
type Ask = (query: string, atMs: number) => Promise<Answer>;

/** Reads the figures. Never rejects. */
export async function readHistory(
  request: HistoryRequest,
  { ask, signal }: Pick<PrometheusRangeQueries, "ask"> & { readonly signal: AbortSignal },
): Promise<HistoryFigures> {
  const { server, nowMs } = request;
  const none = (why: string): HistoryFigures => ({
    figures: [],
    missing: QUESTIONS.map(({ key, title }) => ({ key, figure: title, why })),
  });
  if (server === undefined) {
    return none("the cluster keeps no history: give --prometheus with the address of a Prometheus");
  }
  const fill = filledBy(request);
  const value: Ask = async (query, atMs) => {
    const range = { server, query: fill(query), startMs: atMs, endMs: atMs, stepMs: 1000 };
    const answer = await ask(range, signal);
    return "problem" in answer ? { problem: answer.message } : answer.series[0]?.values[0];
  };
  const leaders = await value(LEADERS, nowMs);
  if (typeof leaders === "object") return none(leaders.problem);
  if (leaders !== undefined && leaders > 1) {
    return none(
      `${leaders} controllers lead: this Prometheus collects several clusters, or one of them ` +
        "twice; choose one by --prometheus-matchers",
    );
  }
  const covered = await coverageOf(SAMPLES.Prometheus, { request, value });
  if (covered.now === 0) {
    return none(
      covered.problem ??
        "this Prometheus has no metrics of agents in the period: docs/metrics.md " +
          "says how to collect them",
    );
  }
  const read = await Promise.all([
    ofSource("Prometheus", { request, value, covered }),
    coverageOf(SAMPLES.cAdvisor, { request, value })
      .then((covered) => ofSource("cAdvisor", { request, value, covered })),
  ]);
  const all = [coverageFigure(covered.now, request), ...read.flat()];
  return {
    figures: all.filter((one): one is ReportFigure => "value" in one),
    missing: all.filter((one): one is MissingFigure => "why" in one),
  };
}

/** Puts the request into a query. */
function filledBy(
  { matchers, namespace, namespaces, sinceMs }: HistoryRequest,
): (query: string) => string {
  const all = matchers.join(",");
  const joined = (...more: readonly string[]): string => [...more, ...matchers].join(",");
  const seconds = Math.round(sinceMs / 1000);
  const placeholders: Readonly<Record<string, string>> = {
    ALL: all,
    PODS: namespace.all ? all : joined(`namespace=${JSON.stringify(namespace.name)}`),
    // Names of namespaces have no character that means something in a regular expression.
    CADVISOR: joined(`namespace=~${JSON.stringify(namespaces.join("|"))}`, 'container!=""'),
    WINDOW: `${seconds}s`,
    STEP: `${stepSeconds(sinceMs)}s`,
    SECONDS: String(seconds),
  };
  return (query) =>
    query.replaceAll(
      /\b(ALL|PODS|CADVISOR|WINDOW|STEP|SECONDS)\b/g,
      (name) => placeholders[name] ?? name,
    );
}

function stepSeconds(sinceMs: number): number {
  return Math.max(LEAST_STEP_S, Math.ceil(sinceMs / 1000 / POINTS));
}

/** Samples in the period and in the one before; none where there is a problem, or no data. */
interface Coverage {
  readonly now: number;
  readonly before: number;
  readonly problem?: string;
}

async function coverageOf(
  query: string,
  { request: { nowMs, beforeMs }, value }: {
    readonly request: HistoryRequest;
    readonly value: Ask;
  },
): Promise<Coverage> {
  const [now = 0, before = 0] = await Promise.all([value(query, nowMs), value(query, beforeMs)]);
  if (typeof now === "object") return { now: 0, before: 0, ...now };
  return { now, before: typeof before === "object" ? 0 : before };
}

function hoursOf(samples: number, sinceMs: number): number {
  return Math.min(samples * stepSeconds(sinceMs), sinceMs / 1000) / 3600;
}

/** How much of the period the figures are of. */
function coverageFigure(samples: number, { sinceMs }: HistoryRequest): ReportFigure {
  const value = hoursOf(samples, sinceMs);
  const whole = sinceMs / 3_600_000;
  return {
    key: "coveredHours",
    title: "Time of the period with data in Prometheus",
    value,
    unit: "hours",
    source: "Prometheus",
    ...(value >= COMPARABLE * whole ? {} : {
      note: `the period has ${Number(whole.toFixed(1))} hours: of the others Prometheus keeps ` +
        "nothing, or has collected nothing, and its figures leave them out",
    }),
  };
}

/** The figures of a source, with the values of the period before where both have as much data. */
async function ofSource(
  source: Question["source"],
  { request, value, covered }: {
    readonly request: HistoryRequest;
    readonly value: Ask;
    readonly covered: Coverage;
  },
): Promise<readonly (ReportFigure | MissingFigure)[]> {
  const { nowMs, beforeMs, sinceMs, namespace } = request;
  const questions = QUESTIONS.filter((one) => one.source === source);
  const missing = ({ key, title: figure }: Question, why: string): MissingFigure => ({
    ...{ key, figure, why },
  });
  if (covered.now === 0) {
    const why = covered.problem ??
      (request.namespaces.length === 0
        ? "no pod is in the market"
        : "this Prometheus does not collect the kubelets' metrics of containers (/metrics/cadvisor)");
    return questions.map((one) => missing(one, why));
  }
  const comparable = covered.before >= COMPARABLE * covered.now;
  const read = await Promise.all(questions.map(async (question) => {
    const { query, ofCluster, compared, ...rest } = question;
    if (ofCluster && !namespace.all) {
      return missing(question, "it is counted for the cluster alone: add -A");
    }
    const [now, before] = await Promise.all([
      value(query, nowMs),
      comparable && compared ? value(query, beforeMs) : undefined,
    ]);
    if (typeof now === "object") return missing(question, now.problem);
    if (now === undefined) {
      const [metric = ""] = /\b(mbcas|container)_\w+/.exec(query) ?? [];
      return missing(question, `Prometheus has no ${metric} in the period`);
    }
    return { ...rest, value: now, ...(typeof before === "number" ? { before } : {}) };
  }));
  if (comparable) return read;
  const hours = (samples: number): string => `${Number(hoursOf(samples, sinceMs).toFixed(1))} h`;
  return [...read, {
    key: "before",
    figure: `Before, by ${source}`,
    why: `there are ${hours(covered.before)} of data before the period and ` +
      `${hours(covered.now)} in it: they can't be compared`,
  }];
}
