/**
 * Queries Prometheus for the demand of pods that name a query in an annotation.
 *
 * A round sends each due query once, for all pods with the same text, and calls `onChange` for pods with
 * another demand than before.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { Log } from "../../shared/log.ts";
import type { Caches } from "../caches.ts";
import {
  type DemandReading,
  demandReading,
  demandSource,
  isFault,
  type MetricFact,
  type MetricOutcome,
  publishedParts,
} from "./metric_fact.ts";
import { createMetricMemory, type MetricMemory } from "./metric_memory.ts";
import {
  answerLifeMs,
  type MetricQuestion,
  metricQuestion,
  type MetricsConfig,
} from "./metric_question.ts";
import type { InstantQueries } from "./ports.ts";

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
  /** Called with the key of each pod that has another demand, or another problem, than before. */
  readonly onChange: (podKey: string) => void;
  /** Called after each answer. */
  readonly observe?: (outcome: MetricOutcome) => void;
}

/** The watch. */
export interface MetricWatch {
  /**
   * The demand of a pod by its query; undefined where the pod names none, or no answer has come yet. A
   * new query is sent soon.
   */
  of(pod: Pod, allocation: PodAllocation): MetricFact | undefined;
  /** Begins a round now: settings may have changed. */
  wake(): void;
  /** Sends queries until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Queries in flight at the same time. */
const WORKERS = 4;
/** A round ends after this many queries in a row without an answer. */
const MOST_UNANSWERED = 3;
/** The pause between two rounds, as a share of the interval: new queries of that time go together. */
const LEAST_PAUSE = 0.1;
/** A problem that lasts is logged again after this long, ms. */
const LOG_AGAIN_MS = 600_000;

/** A query and the pods that it serves. */
interface SharedQuery {
  readonly question: MetricQuestion;
  readonly podKeys: string[];
}

interface WatchState extends MetricWatchParts {
  readonly memory: MetricMemory;
  readonly reports: MetricReports;
  /** Aborted to end the pause between two rounds. */
  pause: AbortController;
}

/** Creates a watch that has sent nothing yet. */
export function createMetricWatch(parts: MetricWatchParts): MetricWatch {
  const { clock, config } = parts;
  const state: WatchState = {
    ...parts,
    memory: createMetricMemory({ clock, lifeMs: () => answerLifeMs(config.metrics) }),
    reports: createMetricReports(parts),
    pause: new AbortController(),
  };
  return {
    of: (pod, allocation) => factOf(state, pod, allocation),
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

/** Sends what is due; returns when the next round is due, monotonic ms. */
async function runRound(state: WatchState, signal: AbortSignal): Promise<number> {
  const { clock, config: { metrics: { intervalMs } }, memory, reports } = state;
  const queries = collectQueries(state);
  memory.keepOnly(queries);
  const begunAt = clock.monotonic();
  const due = [...queries].filter(([key]) => dueAt(state, key) <= begunAt)
    .sort(([a], [b]) => dueAt(state, a) - dueAt(state, b));
  const isAnswered = await sendQueries(state, due, signal);
  const tookMs = clock.monotonic() - begunAt;
  if (tookMs > intervalMs) reports.late({ questions: due.length, tookMs });
  const latestAt = begunAt + intervalMs;
  return isAnswered
    ? Math.min(latestAt, ...Array.from(queries.keys(), (key) => dueAt(state, key)))
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
  const queries = due.values();
  let unanswered = 0;
  async function work(): Promise<void> {
    for (const [key, query] of queries) {
      const outcome = await sendQuery(state, { key, ...query }, signal);
      unanswered = outcome === "unreachable" ? unanswered + 1 : 0;
      if (signal.aborted || unanswered >= MOST_UNANSWERED) return;
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work));
  return unanswered < MOST_UNANSWERED;
}

async function sendQuery(
  { memory, reports, source, clock, config, onChange, observe }: WatchState,
  { key, question, podKeys }: SharedQuery & { readonly key: string },
  signal: AbortSignal,
): Promise<MetricOutcome> {
  memory.asking(key);
  const answer = await source.ask(question, signal);
  const lifeMs = answerLifeMs(config.metrics);
  const reading = demandReading(answer, { nowMs: clock.wall(), lifeMs });
  if (signal.aborted) return reading.kind;
  observe?.(reading.kind);
  reports.answered(question, reading);
  if (memory.note(key, reading)) { for (const podKey of podKeys) onChange(podKey); }
  return reading.kind;
}

/** When a query is due, monotonic ms; a new one before all others. */
function dueAt({ memory, config }: WatchState, key: string): number {
  return (memory.askedAt(key) ?? Number.MIN_SAFE_INTEGER) + config.metrics.intervalMs;
}

function keyOf({ server, query }: MetricQuestion): string {
  return `${server} ${query}`;
}

/** The demand of a pod now. A demand from before this process began counts for one life of an answer. */
function factOf(
  { config, memory, clock, pause }: WatchState,
  pod: Pod,
  allocation: PodAllocation,
): MetricFact | undefined {
  const question = metricQuestion(pod, config.metrics);
  if (question === undefined) return undefined;
  if ("fault" in question) return { ignored: question.fault };
  const key = keyOf(question);
  if (memory.askedAt(key) === undefined) pause.abort();
  const known = memory.known(key);
  const { name } = question;
  if (known.state === "value") {
    const { cores, leftMs } = known;
    return { demand: cores, source: demandSource(name, cores), untilMs: clock.wall() + leftMs };
  }
  const { problem } = known;
  const published = publishedParts(allocation);
  if (known.state === "young" && published.size > 0) {
    const source = `query ${name} said so, and was not answered since`;
    return { demand: published, source, untilMs: clock.wall() + known.leftMs };
  }
  if (known.state === "young" && problem === undefined) return undefined;
  const message = problem?.message ?? "its last value is too old";
  return { missing: `query ${name}: ${message}`, fault: problem !== undefined && isFault(problem) };
}

/** Logs problems of queries: each once, and again when it has lasted. */
export interface MetricReports {
  answered(question: MetricQuestion, reading: DemandReading): void;
  /** The queries of a round took `tookMs`, longer than the interval. */
  late(round: { readonly questions: number; readonly tookMs: number }): void;
}

/** Reports to this log: one line for a query that many pods name. */
export function createMetricReports(
  { log, clock }: { readonly log: Log; readonly clock: Pick<Clock, "monotonic"> },
): MetricReports {
  const loggedAt = new Map<string, number>();
  let silent: string | undefined;

  function isDue(problem: string): boolean {
    const now = clock.monotonic();
    if (now - (loggedAt.get(problem) ?? -Infinity) < LOG_AGAIN_MS) return false;
    loggedAt.set(problem, now);
    return true;
  }

  return {
    answered({ server, name }, reading) {
      const { kind: outcome } = reading;
      if (outcome === "unreachable") {
        silent = server;
        if (isDue(`${outcome} ${server}`)) {
          log.warn("Prometheus does not answer", { server, error: reading.message });
        }
        return;
      }
      if (silent === server) {
        silent = undefined;
        loggedAt.delete(`unreachable ${server}`);
        log.info("Prometheus answers", { server });
      }
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
