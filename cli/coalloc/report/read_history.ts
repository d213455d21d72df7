/**
 * Figures of a period from Prometheus: the cluster keeps no history.
 *
 * @module
 */
import type { PrometheusRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import { inParallel } from "../../../shared/control/in_parallel.ts";
import type { NamespaceChoice } from "../ports.ts";
import type { HistoryFigures, MissingFigure, ReportFigure } from "./report_view.ts";

/** The periods, and the Prometheus. */
export interface HistoryRequest {
  /** Undefined: none was given. */
  readonly server: string | undefined;
  /** Matchers for labels that all series of the cluster have, `cluster="prod"`. */
  readonly matchers: readonly string[];
  readonly nowMs: number;
  readonly sinceMs: number;
  /** End of the period to compare with, which is as long. */
  readonly beforeMs: number;
  readonly namespace: NamespaceChoice;
  /** How many pods are in the market. */
  readonly pods: number;
  /** Namespaces with pods in the market. */
  readonly namespaces: readonly string[];
}

/** A figure, and its query, which gives one value. */
interface FigureQuery extends Pick<ReportFigure, "key" | "title" | "unit" | "note"> {
  readonly source: "Prometheus" | "cAdvisor";
  /**
   * `PODS`, `ALL` and `CADVISOR` stand for matchers of pods in the market, of the cluster, and of containers
   * in namespaces with pods in the market; `WINDOW` for the period, `STEP` for the interval of samples in it.
   */
  readonly query: string;
  /** True where the metric has no namespace. */
  readonly ofCluster?: true;
}

const RESIZES = 'mbcas_resizes_total{outcome="accepted",ALL}';
/** Series that began in the period, later than other series of their program. */
const BEGUN = `(min_over_time(${RESIZES}[WINDOW]) unless ${RESIZES} offset WINDOW)` +
  ` and (count_over_time(${RESIZES}[WINDOW])` +
  " < on (job,instance) group_left count_over_time(mbcas_leader{ALL}[WINDOW]))";
/** Containers are collected by several jobs in some clusters, and have another id after a restart. */
const ONCE = "max by (namespace,pod,container,id)";
const CADVISOR_NOTE =
  "of all containers in the namespaces that have pods in the market now, as the kubelets count it";

/** Series that each source has at all times. */
const STEADY: Readonly<Record<FigureQuery["source"], string>> = {
  Prometheus: "mbcas_node_allocatable_cores{ALL}",
  cAdvisor: "container_cpu_usage_seconds_total{CADVISOR}",
};
/** How many samples of a period the series have. */
const samplesOf = (series: string): string => `count_over_time(group(${series})[WINDOW:STEP])`;
/** Clusters by the label that most fleets have. Kubelets may be collected where no controller runs. */
const clustersOf = (series: string): string => `count(group by (cluster) (${series}))`;
/** The number of samples in the time with data. */
const TIME = `scalar(${samplesOf(STEADY.Prometheus)})`;

const FIGURE_QUERIES: readonly FigureQuery[] = [
  {
    key: "podsMeasured",
    title: "Pods in the market",
    unit: "count",
    source: "Prometheus",
    query:
      "sum_over_time(count(group by (namespace,pod) (mbcas_pod_usage_cores{PODS}))[WINDOW:STEP])" +
      ` / ${TIME}`,
    note: "mean over the time with data",
  },
  {
    key: "usageBeyondOriginal",
    title: "CPU used beyond original limits",
    unit: "cores",
    source: "Prometheus",
    query: "sum(sum_over_time(clamp_min(" +
      "mbcas_pod_usage_cores{PODS} - mbcas_pod_original_limit_cores{PODS}, 0)[WINDOW:STEP]))" +
      ` / ${TIME}`,
    note: "these would have refused it; mean over the time with data, pods that are gone included",
  },
  {
    key: "throttledSeconds",
    title: "Throttled time of pods in the market",
    unit: "seconds",
    source: "Prometheus",
    query: "sum(increase(mbcas_pod_throttled_seconds_total{PODS}[WINDOW]))",
    note: "summed over threads",
  },
  {
    key: "limitChanges",
    title: "Changes of CPU limits",
    unit: "count",
    source: "Prometheus",
    // A series begins with its first change, which `increase` leaves out.
    query: `sum(increase(${RESIZES}[WINDOW])) + (sum(${BEGUN}) or vector(0))`,
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
    note: CADVISOR_NOTE,
  },
  {
    key: "containersCPU",
    title: "CPU used by containers",
    unit: "core-hours",
    source: "cAdvisor",
    query: `sum(${ONCE} (increase(container_cpu_usage_seconds_total{CADVISOR}[WINDOW]))) / 3600`,
    note: CADVISOR_NOTE,
  },
];

/**
 * Most leaders at a time: several where Prometheus collects several clusters, or one twice. `min_over_time`
 * leaves out failovers, after which two seem to lead for 5 min, as long as a last sample counts.
 */
const LEADERS = "max_over_time(min_over_time(sum(mbcas_leader{ALL})[10m:1m])[WINDOW:STEP])";
/** Each query reads a week of samples of all pods; Prometheus has other users. */
const QUERIES_AT_ONCE = 2;

/**
 * Samples of a period: for a week one in 10 min, and at most one in 15 s. Fewer for many pods: a Prometheus
 * with one CPU takes some 20 s for half a million.
 */
const POINTS = { max: 1000, min: 100, ofAllPods: 500_000 };
const MIN_STEP_S = 15;
/** Least share of the other period's samples at which two periods are compared. */
const COMPARABLE = 0.95;

/** The value of a query; undefined where there is no series. */
type QueryValue = number | { readonly problem: string } | undefined;
type Evaluate = (query: string, atMs: number) => Promise<QueryValue>;

/** The query port, and a callback for progress. */
export interface HistoryPorts extends Pick<PrometheusRangeQueries, "ask"> {
  readonly signal: AbortSignal;
  /** Called with the number of figures that are done. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** Reads the figures. Never rejects. */
export async function readHistory(
  request: HistoryRequest,
  { ask, signal, onProgress = () => {} }: HistoryPorts,
): Promise<HistoryFigures> {
  const { server } = request;
  if (server === undefined) {
    return missingAll(
      "the cluster keeps no history: give --prometheus with the address of a Prometheus",
    );
  }
  const fill = filledBy(request);
  const value: Evaluate = async (query, atMs) => {
    const range = { server, query: fill(query), startMs: atMs, endMs: atMs, stepMs: 1000 };
    const answer = await ask(range, signal);
    if (!("problem" in answer)) return answer.series[0]?.values[0];
    const shorter = answer.tooMuch ? "; ask for less with a shorter --since" : "";
    return { problem: answer.message + shorter };
  };
  let done = 0;
  onProgress(done, FIGURE_QUERIES.length);
  const several = await severalLeaders({ request, value });
  if (several !== undefined) return missingAll(several);
  const covered = {
    Prometheus: await coverageOf("Prometheus", { request, value }),
    cAdvisor: await coverageOf("cAdvisor", { request, value }),
  };
  if (covered.Prometheus.now === 0) return missingAll(covered.Prometheus.problem);
  const figures = await inParallel(FIGURE_QUERIES, async (query) => {
    const figure = await readFigure(query, { request, value, covered: covered[query.source] });
    onProgress(++done, FIGURE_QUERIES.length);
    return figure;
  }, { concurrency: QUERIES_AT_ONCE });
  const all = [
    coverageFigure(covered.Prometheus.now, request),
    ...figures.flat(),
    ...(["Prometheus", "cAdvisor"] as const).flatMap((source) =>
      withoutComparison(source, { covered: covered[source], request })
    ),
  ];
  return {
    figures: all.filter((one): one is ReportFigure => "value" in one),
    missing: all.filter((one): one is MissingFigure => "why" in one),
  };
}

function missingAll(why: string): HistoryFigures {
  return {
    figures: [],
    missing: FIGURE_QUERIES.map(({ key, title }) => ({ key, figure: title, why })),
  };
}

const CHOOSE = "choose one by --prometheus-matchers";

/** Why nothing is read; undefined where at most one controller has led at a time. */
async function severalLeaders(
  { request: { nowMs, beforeMs }, value }: QueryContext,
): Promise<string | undefined> {
  const answers = await Promise.all([value(LEADERS, nowMs), value(LEADERS, beforeMs)]);
  const problem = answers.find((answer) => typeof answer === "object");
  if (problem !== undefined) return problem.problem;
  const leaders = Math.max(0, ...answers.filter((answer) => typeof answer === "number"));
  return leaders <= 1
    ? undefined
    : `${leaders} controllers lead: this Prometheus collects several clusters, or one of them twice; ` +
      CHOOSE;
}

/** Returns a function that puts the request into a query. */
function filledBy(request: HistoryRequest): (query: string) => string {
  const { matchers, namespace, namespaces, sinceMs } = request;
  const all = matchers.join(",");
  const joined = (...more: readonly string[]): string => [...more, ...matchers].join(",");
  const placeholders: Readonly<Record<string, string>> = {
    ALL: all,
    PODS: namespace.all ? all : joined(`namespace=${JSON.stringify(namespace.name)}`),
    // Names of namespaces have no special characters of regular expressions.
    CADVISOR: joined(`namespace=~${JSON.stringify(namespaces.join("|"))}`, 'container!=""'),
    WINDOW: `${Math.round(sinceMs / 1000)}s`,
    STEP: `${stepSeconds(request)}s`,
  };
  return (query) =>
    query.replaceAll(
      /\b(ALL|PODS|CADVISOR|WINDOW|STEP)\b/g,
      (name) => placeholders[name] ?? name,
    );
}

function stepSeconds(
  { sinceMs, pods }: Pick<HistoryRequest, "sinceMs" | "pods">,
): number {
  const { max, min, ofAllPods } = POINTS;
  const points = Math.max(min, Math.min(max, ofAllPods / pods));
  return Math.max(MIN_STEP_S, Math.ceil(sinceMs / 1000 / points));
}

interface QueryContext {
  readonly request: HistoryRequest;
  readonly value: Evaluate;
}

/** Samples in the period and in the one before. */
interface Coverage {
  readonly now: number;
  readonly before: Exclude<QueryValue, undefined>;
  /** Why there are none in the period. */
  readonly problem: string;
}

async function coverageOf(
  source: FigureQuery["source"],
  { request: { nowMs, beforeMs, namespaces, matchers }, value }: QueryContext,
): Promise<Coverage> {
  const none = (problem: string): Coverage => ({ now: 0, before: 0, problem });
  if (source === "cAdvisor" && namespaces.length === 0) return none("no pod is in the market");
  const clusters = await value(clustersOf(STEADY[source]), nowMs);
  if (typeof clusters === "object") return none(clusters.problem);
  if (clusters !== undefined && clusters > 1) {
    return none(`this Prometheus collects ${clusters} clusters; ${CHOOSE}`);
  }
  const query = samplesOf(STEADY[source]);
  const [now = 0, before = 0] = await Promise.all([value(query, nowMs), value(query, beforeMs)]);
  if (typeof now === "object") return none(now.problem);
  const matching = matchers.length === 0 ? "" : ` with ${matchers.join(",")}`;
  const problem = source === "Prometheus"
    ? `this Prometheus has no metrics of agents${matching} in the period: docs/metrics.md says how ` +
      "to collect them"
    : "this Prometheus does not collect the kubelets' metrics of containers (/metrics/cadvisor)" +
      matching;
  return { now, before, problem };
}

function hoursOf(samples: number, request: HistoryRequest): number {
  return Math.min(samples * stepSeconds(request), request.sinceMs / 1000) / 3600;
}

/** How much of the period has data. */
function coverageFigure(samples: number, request: HistoryRequest): ReportFigure {
  const value = hoursOf(samples, request);
  const whole = request.sinceMs / 3_600_000;
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

/** Whether both periods have about as much data: sums over less time are smaller. */
function isComparable({ now, before }: Coverage): boolean {
  return typeof before === "number" && before >= COMPARABLE * now && now >= COMPARABLE * before;
}

/** The figure, with the value of the period before where both have as much data. */
async function readFigure(
  { query, ofCluster, ...figure }: FigureQuery,
  { request: { nowMs, beforeMs, namespace }, value, covered }: QueryContext & {
    readonly covered: Coverage;
  },
): Promise<readonly (ReportFigure | MissingFigure)[]> {
  const missing = (why: string): MissingFigure => ({ key: figure.key, figure: figure.title, why });
  if (covered.now === 0) return [missing(covered.problem)];
  if (ofCluster && !namespace.all) return [missing("it is counted for the cluster alone: add -A")];
  const now = await value(query, nowMs);
  if (typeof now === "object") return [missing(now.problem)];
  const [metric = ""] = /\b(mbcas|container)_\w+/.exec(query) ?? [];
  if (now === undefined) return [missing(`Prometheus has no ${metric} in the period`)];
  if (!isComparable(covered)) return [{ ...figure, value: now }];
  const before = await value(query, beforeMs);
  if (typeof before === "number") return [{ ...figure, value: now, before }];
  const why = before?.problem ?? `Prometheus has no ${metric} before it`;
  return [{ ...figure, value: now }, { key: "before", figure: `Before, of ${figure.title}`, why }];
}

/** Why figures of a source are not compared with the period before. */
function withoutComparison(
  source: FigureQuery["source"],
  { covered, request }: {
    readonly covered: Coverage;
    readonly request: HistoryRequest;
  },
): readonly MissingFigure[] {
  const { now, before } = covered;
  if (now === 0 || isComparable(covered)) return [];
  const hours = (samples: number): string => `${Number(hoursOf(samples, request).toFixed(1))} h`;
  const why = typeof before === "object"
    ? before.problem
    : `there are ${hours(before)} of data before the period and ${hours(now)} in it: they can't ` +
      "be compared";
  return [{ key: "before", figure: `Before, by ${source}`, why }];
}
