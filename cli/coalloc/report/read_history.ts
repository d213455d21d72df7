/**
 * Figures of the period from a Prometheus: the cluster itself keeps no history.
 *
 * @module
 */
import type { PrometheusRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import { inParallel } from "../../../shared/control/in_parallel.ts";
import type { NamespaceChoice } from "../ports.ts";
import type { HistoryFigures, MissingFigure, ReportFigure } from "./report_view.ts";

/** Which periods, and where to ask. */
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

/** A figure of a query with one value. */
interface Question extends Pick<ReportFigure, "key" | "title" | "unit" | "note"> {
  readonly source: "Prometheus" | "cAdvisor";
  /**
   * `PODS`, `ALL` and `CADVISOR` stand for matchers: of pods in the market, of the cluster, and of
   * containers in the namespaces of the former. `WINDOW` and `STEP` are the period and the distance
   * of samples in it.
   */
  readonly query: string;
  /** True where the metric has no namespace. */
  readonly ofCluster?: true;
}

const RESIZES = 'mbcas_resizes_total{outcome="accepted",ALL}';
/** Series that began in the period, and later than others of their program. */
const BEGUN = `(min_over_time(${RESIZES}[WINDOW]) unless ${RESIZES} offset WINDOW)` +
  ` and (count_over_time(${RESIZES}[WINDOW])` +
  " < on (job,instance) group_left count_over_time(mbcas_leader{ALL}[WINDOW]))";
/** Containers are collected by several jobs in some clusters, and have another id after a restart. */
const ONCE = "max by (namespace,pod,container,id)";
const CADVISOR_NOTE =
  "of all containers in the namespaces that have pods in the market now, as the kubelets count it";

/** Series that each source has at all times. */
const STEADY: Readonly<Record<Question["source"], string>> = {
  Prometheus: "mbcas_node_allocatable_cores{ALL}",
  cAdvisor: "container_cpu_usage_seconds_total{CADVISOR}",
};
/** How many samples of a period the series have. */
const samplesOf = (series: string): string => `count_over_time(group(${series})[WINDOW:STEP])`;
/** Clusters by the label that most fleets have. Kubelets may be collected where no controller runs. */
const clustersOf = (series: string): string => `count(group by (cluster) (${series}))`;
/** To divide by: the samples of the time with data. */
const TIME = `scalar(${samplesOf(STEADY.Prometheus)})`;

const QUESTIONS: readonly Question[] = [
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
 * The most in a period: more than one where several clusters are collected, or one twice. After a
 * failover two seem to lead for the 5 min that a last sample counts.
 */
const LEADERS = "max_over_time(min_over_time(sum(mbcas_leader{ALL})[10m:1m])[WINDOW:STEP])";
/** Each reads a week of samples of all pods; Prometheus has other users. */
const QUERIES_AT_ONCE = 2;

/**
 * Samples of a period: one in 10 min of a week, and not more than one in 15 s. For many pods there are
 * fewer: a Prometheus with one CPU takes some 20 s for half a million.
 */
const POINTS = { most: 1000, least: 100, ofAllPods: 500_000 };
const LEAST_STEP_S = 15;
/** Share of one period's samples that the other needs at least to be compared with it. */
const COMPARABLE = 0.95;

/** The answer to a query; undefined where there is no series. */
type Answer = number | { readonly problem: string } | undefined;
type Ask = (query: string, atMs: number) => Promise<Answer>;

/** The query port, and a callback for progress. */
export interface HistoryPorts extends Pick<PrometheusRangeQueries, "ask"> {
  readonly signal: AbortSignal;
  /** Takes how many of the figures are there. */
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
  const value: Ask = async (query, atMs) => {
    const range = { server, query: fill(query), startMs: atMs, endMs: atMs, stepMs: 1000 };
    const answer = await ask(range, signal);
    if (!("problem" in answer)) return answer.series[0]?.values[0];
    const shorter = answer.tooMuch ? "; ask for less with a shorter --since" : "";
    return { problem: answer.message + shorter };
  };
  let done = 0;
  onProgress(done, QUESTIONS.length);
  const several = await severalLeaders({ request, value });
  if (several !== undefined) return missingAll(several);
  const covered = {
    Prometheus: await coverageOf("Prometheus", { request, value }),
    cAdvisor: await coverageOf("cAdvisor", { request, value }),
  };
  if (covered.Prometheus.now === 0) return missingAll(covered.Prometheus.problem);
  const answered = await inParallel(QUESTIONS, async (question) => {
    const answer = await answerTo(question, { request, value, covered: covered[question.source] });
    onProgress(++done, QUESTIONS.length);
    return answer;
  }, { concurrency: QUERIES_AT_ONCE });
  const all = [
    coverageFigure(covered.Prometheus.now, request),
    ...answered.flat(),
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
    missing: QUESTIONS.map(({ key, title }) => ({ key, figure: title, why })),
  };
}

const CHOOSE = "choose one by --prometheus-matchers";

/** Why nothing is read; undefined where one controller has led at a time, or none is collected. */
async function severalLeaders(
  { request: { nowMs, beforeMs }, value }: Asked,
): Promise<string | undefined> {
  const answers = await Promise.all([value(LEADERS, nowMs), value(LEADERS, beforeMs)]);
  const problem = answers.find((answer) => typeof answer === "object");
  if (problem !== undefined) return problem.problem;
  const most = Math.max(0, ...answers.filter((answer) => typeof answer === "number"));
  return most <= 1
    ? undefined
    : `${most} controllers lead: this Prometheus collects several clusters, or one of them twice; ` +
      CHOOSE;
}

/** Puts the request into a query. */
function filledBy(request: HistoryRequest): (query: string) => string {
  const { matchers, namespace, namespaces, sinceMs } = request;
  const all = matchers.join(",");
  const joined = (...more: readonly string[]): string => [...more, ...matchers].join(",");
  const placeholders: Readonly<Record<string, string>> = {
    ALL: all,
    PODS: namespace.all ? all : joined(`namespace=${JSON.stringify(namespace.name)}`),
    // Names of namespaces have no character that means something in a regular expression.
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
  const { most, least, ofAllPods } = POINTS;
  const points = Math.max(least, Math.min(most, ofAllPods / pods));
  return Math.max(LEAST_STEP_S, Math.ceil(sinceMs / 1000 / points));
}

/** The request, and how to ask for it. */
interface Asked {
  readonly request: HistoryRequest;
  readonly value: Ask;
}

/** Samples in the period and in the one before. */
interface Coverage {
  readonly now: number;
  readonly before: Exclude<Answer, undefined>;
  /** Why there are none now. */
  readonly problem: string;
}

async function coverageOf(
  source: Question["source"],
  { request: { nowMs, beforeMs, namespaces, matchers }, value }: Asked,
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

/** How much of the period the figures are of. */
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

/** Whether both periods have data, and about as much: sums over less time are smaller. */
function isComparable({ now, before }: Coverage): boolean {
  return typeof before === "number" && before >= COMPARABLE * now && now >= COMPARABLE * before;
}

/** The figure, with the value of the period before where both have as much data. */
async function answerTo(
  { query, ofCluster, ...rest }: Question,
  { request: { nowMs, beforeMs, namespace }, value, covered }: Asked & {
    readonly covered: Coverage;
  },
): Promise<readonly (ReportFigure | MissingFigure)[]> {
  const missing = (why: string): MissingFigure => ({ key: rest.key, figure: rest.title, why });
  if (covered.now === 0) return [missing(covered.problem)];
  if (ofCluster && !namespace.all) return [missing("it is counted for the cluster alone: add -A")];
  const now = await value(query, nowMs);
  if (typeof now === "object") return [missing(now.problem)];
  const [metric = ""] = /\b(mbcas|container)_\w+/.exec(query) ?? [];
  if (now === undefined) return [missing(`Prometheus has no ${metric} in the period`)];
  if (!isComparable(covered)) return [{ ...rest, value: now }];
  const before = await value(query, beforeMs);
  if (typeof before === "number") return [{ ...rest, value: now, before }];
  const why = before?.problem ?? `Prometheus has no ${metric} before it`;
  return [{ ...rest, value: now }, { key: "before", figure: `Before, of ${rest.title}`, why }];
}

/** Why a source has nothing before the period. */
function withoutComparison(
  source: Question["source"],
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
