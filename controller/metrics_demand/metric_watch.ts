/**
 * Queries Prometheus for the demand of pods that name a query in an annotation.
 *
 * A round sends each due query once for all pods with the same text, and calls `onChange` for pods with
 * another demand than before.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import { inParallel } from "../../shared/control/in_parallel.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { Log } from "../../shared/log.ts";
import type { Caches } from "../caches.ts";
import {
  type DemandReading,
  demandReading,
  demandSource,
  hasMoved,
  isFault,
  type MetricAnswer,
  type MetricOutcome,
  type NoDemand,
  publishedParts,
} from "./metric_answer.ts";
import {
  answerLifeMs,
  type MetricQuestion,
  metricQuestion,
  type MetricsConfig,
} from "./metric_question.ts";
import type { InstantQueries } from "../../shared/instant_queries.ts";

/** Dependencies of the watch. */
export interface MetricWatchParts {
  readonly caches: {
    readonly pods: Pick<Caches["pods"], "all">;
    readonly allocations: Pick<Caches["allocations"], "get">;
  };
  readonly clock: Clock;
  readonly log: Log;
  readonly config: { readonly metrics: MetricsConfig };
  readonly source: InstantQueries;
  /** Called for each pod with a new demand, or a new problem with it. */
  readonly onChange: (podKey: string) => void;
  readonly observe?: (outcome: MetricOutcome) => void;
}

/** The watch. */
export interface MetricWatch {
  /** The pod's demand; undefined without a query, or before its first answer. Sends a new query soon. */
  answerFor(pod: Pod, allocation: PodAllocation): MetricAnswer | undefined;
  /** Begins a round now: settings may have changed. */
  wake(): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Queries in flight at the same time. */
const WORKERS = 4;
/** A round ends after this many queries in a row without an answer. */
const MOST_UNANSWERED = 3;
/** Least pause between two rounds, as a share of the interval: new queries are sent together. */
const LEAST_PAUSE = 0.1;
/** A problem that lasts is logged again after this long, ms. */
const LOG_AGAIN_MS = 600_000;

/** A query and the pods that it serves. */
interface SharedQuery {
  readonly question: MetricQuestion;
  readonly podKeys: string[];
}

/** The last answer to a query. A restart may lose it. */
interface QueryState {
  /** When the query was first seen, monotonic ms. */
  readonly sinceMs: number;
  /** When it was last sent, monotonic ms. */
  sentAt?: number;
  value?: { readonly cores: number; readonly measuredAt: number };
  problem?: NoDemand | undefined;
  /** The published value: cores, or the message of a problem. */
  published?: number | string;
}

/** The demand by a query; `isNew`: the query is new and had no value yet. */
type KnownDemand =
  | { readonly cores: number; readonly leftMs: number }
  | { readonly isNew: boolean; readonly leftMs: number; readonly problem: NoDemand | undefined };

interface WatchState extends MetricWatchParts {
  /** By query. */
  readonly answers: Map<string, QueryState>;
  readonly reports: MetricReports;
  /** Aborted to end the pause between two rounds. */
  pause: AbortController;
}

/** Creates a watch that has sent nothing yet. */
export function createMetricWatch(parts: MetricWatchParts): MetricWatch {
  const state: WatchState = {
    ...parts,
    answers: new Map(),
    reports: createMetricReports(parts),
    pause: new AbortController(),
  };
  return {
    answerFor: (pod, allocation) => metricAnswerOf(state, pod, allocation),
    wake: () => state.pause.abort(),
    run: (signal) => runRounds(state, signal),
  };
}

async function runRounds(state: WatchState, signal: AbortSignal): Promise<void> {
  const { clock, config } = state;
  const end = (): void => state.pause.abort();
  signal.addEventListener("abort", end, { once: true });
  while (!signal.aborted) {
    state.pause = new AbortController();
    const nextAt = await runRound(state, signal);
    await clock.sleep(LEAST_PAUSE * config.metrics.intervalMs, signal);
    if (signal.aborted) break;
    await clock.sleep(Math.max(0, nextAt - clock.monotonic()), state.pause.signal);
  }
  signal.removeEventListener("abort", end);
}

/** Sends the queries that are due; returns when the next round is due, monotonic ms. */
async function runRound(state: WatchState, signal: AbortSignal): Promise<number> {
  const { clock, config: { metrics: { intervalMs } }, answers, reports } = state;
  const queries = collectQueries(state);
  for (const key of answers.keys()) if (!queries.has(key)) answers.delete(key);
  const begunAt = clock.monotonic();
  const due = [...queries].filter(([key]) => dueAt(state, key) <= begunAt)
    .sort(([a], [b]) => dueAt(state, a) - dueAt(state, b));
  const isAnswered = await sendQueries(state, due, signal);
  const tookMs = clock.monotonic() - begunAt;
  if (tookMs > intervalMs) reports.late({ questions: due.length, tookMs });
  const latestAt = begunAt + intervalMs;
  return isAnswered
    ? queries.keys().reduce((nextAt, key) => Math.min(nextAt, dueAt(state, key)), latestAt)
    : latestAt;
}

/** Queries of managed pods, by key. */
function collectQueries({ caches, config }: WatchState): ReadonlyMap<string, SharedQuery> {
  const queries = new Map<string, SharedQuery>();
  for (const pod of caches.pods.all()) {
    const question = metricQuestion(pod, config.metrics);
    if (question === undefined || "fault" in question) continue;
    const { namespace, uid } = pod.metadata;
    if (caches.allocations.get(`${namespace}/${uid}`) === undefined) continue;
    const key = keyOf(question);
    const shared = queries.get(key) ?? { question, podKeys: [] };
    shared.podKeys.push(objectKey(pod.metadata));
    queries.set(key, shared);
  }
  return queries;
}

/** Sends the queries in order; false where a server that does not answer ended the round. */
async function sendQueries(
  state: WatchState,
  due: readonly (readonly [string, SharedQuery])[],
  signal: AbortSignal,
): Promise<boolean> {
  let unanswered = 0;
  await inParallel(due, async ([key, query]) => {
    if (signal.aborted || unanswered >= MOST_UNANSWERED) return;
    const outcome = await sendQuery(state, { key, ...query }, signal);
    unanswered = outcome === "unreachable" ? unanswered + 1 : 0;
  }, { concurrency: WORKERS });
  return unanswered < MOST_UNANSWERED;
}

async function sendQuery(
  state: WatchState,
  { key, question, podKeys }: SharedQuery & { readonly key: string },
  signal: AbortSignal,
): Promise<MetricOutcome> {
  const { reports, source, clock, config, onChange, observe } = state;
  queryState(state, key).sentAt = clock.monotonic();
  const answer = await source.ask(question, signal);
  const lifeMs = answerLifeMs(config.metrics);
  const reading = demandReading(answer, { nowMs: clock.wall(), lifeMs });
  if (signal.aborted) return reading.kind;
  observe?.(reading.kind);
  reports.answered(question, reading);
  if (hasNewDemand(state, key, reading)) podKeys.forEach((podKey) => onChange(podKey));
  return reading.kind;
}

/** When a query is due, monotonic ms; new ones come first. */
function dueAt({ answers, config }: WatchState, key: string): number {
  return (answers.get(key)?.sentAt ?? Number.MIN_SAFE_INTEGER) + config.metrics.intervalMs;
}

function queryState({ answers, clock }: WatchState, key: string): QueryState {
  const answer = answers.get(key) ?? { sinceMs: clock.monotonic() };
  answers.set(key, answer);
  return answer;
}

function knownOf(state: WatchState, key: string): KnownDemand {
  const { sinceMs, value, problem } = queryState(state, key);
  const lifeMs = answerLifeMs(state.config.metrics);
  const leftMs = (value?.measuredAt ?? sinceMs) + lifeMs - state.clock.monotonic();
  if (value !== undefined && leftMs > 0) return { cores: value.cores, leftMs };
  return { isNew: leftMs > 0, leftMs, problem };
}

/** Takes a reading; true when pods of the query must be reconciled. */
function hasNewDemand(state: WatchState, key: string, reading: DemandReading): boolean {
  const answer = queryState(state, key);
  if (reading.kind === "value") {
    answer.value = { cores: reading.cores, measuredAt: state.clock.monotonic() - reading.ageMs };
    answer.problem = undefined;
  } else answer.problem = reading;
  const known = knownOf(state, key);
  const { published } = answer;
  const now = "cores" in known ? known.cores : known.problem?.message ?? "";
  if (typeof now === "number" && typeof published === "number") {
    if (!hasMoved(1000 * published, 1000 * now)) return false;
  } else if (now === published) return false;
  answer.published = now;
  return true;
}

function keyOf({ server, query }: MetricQuestion): string {
  return `${server} ${query}`;
}

/** The pod's demand. Without an answer yet, the published one counts for {@linkcode answerLifeMs}. */
function metricAnswerOf(
  state: WatchState,
  pod: Pod,
  allocation: PodAllocation,
): MetricAnswer | undefined {
  const { config, answers, clock, pause } = state;
  const question = metricQuestion(pod, config.metrics);
  if (question === undefined) return undefined;
  if ("fault" in question) return { ignored: question.fault };
  const key = keyOf(question);
  if (!answers.has(key)) pause.abort();
  const known = knownOf(state, key);
  const { name } = question;
  const untilMs = clock.wall() + known.leftMs;
  if ("cores" in known) {
    return { demand: known.cores, source: demandSource(name, known.cores), untilMs };
  }
  const { isNew, problem } = known;
  const published = publishedParts(allocation);
  if (isNew && published.size > 0) {
    const source = `query ${name} said so, and was not answered since`;
    return { demand: published, source, untilMs };
  }
  if (isNew && problem === undefined) return undefined;
  const message = problem?.message ?? "its last value is too old";
  return { missing: `query ${name}: ${message}`, fault: problem !== undefined && isFault(problem) };
}

/** Logs problems of queries: each once, and again every ten minutes. */
export interface MetricReports {
  answered(question: MetricQuestion, reading: DemandReading): void;
  /** The queries of a round took `tookMs`, longer than the interval. */
  late(round: { readonly questions: number; readonly tookMs: number }): void;
}

/** Reports to this log. */
export function createMetricReports(
  { log, clock }: { readonly log: Log; readonly clock: Pick<Clock, "monotonic"> },
): MetricReports {
  const loggedAt = new Map<string, number>();

  function isDue(problem: string): boolean {
    const now = clock.monotonic();
    if (now - (loggedAt.get(problem) ?? -Infinity) < LOG_AGAIN_MS) return false;
    loggedAt.set(problem, now);
    return true;
  }

  return {
    answered({ server, name }, reading) {
      const { kind: outcome } = reading;
      const silence = `unreachable ${server}`;
      if (outcome === "unreachable") {
        if (!isDue(silence)) return;
        log.warn("Prometheus does not answer", { server, error: reading.message });
        return;
      }
      if (loggedAt.delete(silence)) log.info("Prometheus answers", { server });
      if (outcome === "value" || !isDue(`${outcome} ${name}`)) return;
      log.warn("A metric query gives no demand", { query: name, outcome, error: reading.message });
    },
    late({ questions, tookMs }) {
      if (!isDue("late")) return;
      log.warn("Metric queries take longer than metrics.interval", {
        questions,
        tookMs: Math.round(tookMs),
      });
    },
  };
}
