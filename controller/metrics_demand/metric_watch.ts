/**
 * Asks what pods could use, for those that name a query.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { Log } from "../../shared/log.ts";
import type { Caches } from "../caches.ts";
import { demandReading, isFault, type MetricOutcome } from "./demand_reading.ts";
import { type MetricFact, publishedParts } from "./metric_fact.ts";
import { createMetricMemory, type Standing } from "./metric_memory.ts";
import { type MetricQuestion, metricQuestion } from "./metric_question.ts";
import { createMetricReports } from "./metric_reports.ts";
import { answerLifeMs, type MetricsConfig } from "./metrics_config.ts";
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
  /** Called with the key of each pod of which something else is known than before. */
  readonly onChange: (podKey: string) => void;
  /** Called after each answer. */
  readonly observe?: (outcome: MetricOutcome) => void;
}

/** The watch. */
export interface MetricWatch {
  /**
   * What is known of a pod now; undefined where it asks for nothing, or was not answered yet. A new
   * question is asked soon.
   */
  of(pod: Pod, allocation: PodAllocation): MetricFact | undefined;
  /** The settings may be others: what is to be asked is asked now. */
  wake(): void;
  /** Asks until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Questions under way at the same time. */
const WORKERS = 4;
/** After this many without an answer, one after the other, the rest need not be tried. */
const MOST_UNANSWERED = 3;
/** A pause between two rounds, as a share of the interval: what is new meanwhile is asked together. */
const LEAST_PAUSE = 0.1;

/** Before anything; unlike infinities it has a difference to itself. Monotonic ms. */
const NEVER = Number.MIN_SAFE_INTEGER;

/** One question, and the pods that it is about. */
interface Asked {
  readonly question: MetricQuestion;
  readonly podKeys: string[];
}

function keyOf({ server, query }: MetricQuestion): string {
  return `${server} ${query}`;
}

/** A watch that has asked nothing yet. */
// deno-lint-ignore house/function-length
export function createMetricWatch(parts: MetricWatchParts): MetricWatch {
  const { caches, clock, config, source, onChange, observe = () => {} } = parts;
  const lifeMs = (): number => answerLifeMs(config.metrics);
  const memory = createMetricMemory({ clock, lifeMs });
  const reports = createMetricReports(parts);
  let wake = new AbortController();

  /** One query for all pods with the same text. */
  function questions(): ReadonlyMap<string, Asked> {
    const all = new Map<string, Asked>();
    for (const pod of caches.pods.all()) {
      const question = metricQuestion(pod, config.metrics);
      if (question === undefined || "fault" in question) continue;
      const { namespace, uid } = pod.metadata;
      if (caches.allocations.get(`${namespace}/${uid}`) === undefined) continue;
      const key = keyOf(question);
      const podKey = objectKey(pod.metadata);
      const asked = all.get(key);
      if (asked === undefined) all.set(key, { question, podKeys: [podKey] });
      else asked.podKeys.push(podKey);
    }
    return all;
  }

  async function ask(key: string, asked: Asked, signal: AbortSignal): Promise<MetricOutcome> {
    const { question, podKeys } = asked;
    memory.asking(key);
    const answer = await source.ask(question, signal);
    const reading = demandReading(answer, { nowMs: clock.wall(), lifeMs: lifeMs() });
    if (signal.aborted) return reading.kind;
    observe(reading.kind);
    reports.answered(question, reading);
    if (memory.note(key, reading)) {
      for (const podKey of podKeys) onChange(podKey);
    }
    return reading.kind;
  }

  /** When a question is to be asked, monotonic ms. */
  const dueAt = (key: string): number => (memory.askedAt(key) ?? NEVER) + config.metrics.intervalMs;

  /** Asks what is due, what has waited longest first; says when to come back, monotonic ms. */
  async function round(signal: AbortSignal): Promise<number> {
    const all = questions();
    memory.keepOnly(all);
    const begunAt = clock.monotonic();
    const line = [...all].filter(([key]) => dueAt(key) <= begunAt)
      .sort(([a], [b]) => dueAt(a) - dueAt(b));
    let next = 0;
    let unanswered = 0;
    async function work(): Promise<void> {
      while (!signal.aborted && unanswered < MOST_UNANSWERED) {
        const [key, asked] = line[next++] ?? [];
        if (key === undefined || asked === undefined) return;
        const outcome = await ask(key, asked, signal);
        unanswered = outcome === "unreachable" ? unanswered + 1 : 0;
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work));
    const { intervalMs } = config.metrics;
    const tookMs = clock.monotonic() - begunAt;
    if (tookMs > intervalMs) reports.late({ questions: line.length, tookMs });
    let nextAt = begunAt + intervalMs;
    if (unanswered >= MOST_UNANSWERED) return nextAt;
    for (const key of all.keys()) nextAt = Math.min(nextAt, dueAt(key));
    return nextAt;
  }

  return {
    of(pod, allocation) {
      const question = metricQuestion(pod, config.metrics);
      if (question === undefined) return undefined;
      if ("fault" in question) return { ignored: question.fault };
      const key = keyOf(question);
      if (memory.askedAt(key) === undefined) wake.abort();
      return factOf(memory.standing(key), { allocation, name: question.name, nowMs: clock.wall() });
    },
    wake: () => wake.abort(),
    async run(signal) {
      const end = (): void => wake.abort();
      signal.addEventListener("abort", end, { once: true });
      while (!signal.aborted) {
        wake = new AbortController();
        const nextAt = await round(signal);
        await clock.sleep(LEAST_PAUSE * config.metrics.intervalMs, signal);
        if (signal.aborted) break;
        await clock.sleep(Math.max(0, nextAt - clock.monotonic()), wake.signal);
      }
      signal.removeEventListener("abort", end);
    },
  };
}

/**
 * What a pod's question came to; a demand published before this process began counts on for a while.
 */
function factOf(
  standing: Standing,
  { allocation, name, nowMs }: {
    readonly allocation: PodAllocation;
    readonly name: string;
    readonly nowMs: number;
  },
): MetricFact | undefined {
  if (standing.state === "value") {
    const { cores, leftMs } = standing;
    const source = `query ${name} says ${Number(cores.toPrecision(3))} cores for the pod`;
    return { demand: cores, source, untilMs: nowMs + leftMs };
  }
  const { problem } = standing;
  const published = publishedParts(allocation);
  if (standing.state === "young" && published.size > 0) {
    const source = `query ${name} said so, and was not answered since`;
    return { demand: published, source, untilMs: nowMs + standing.leftMs };
  }
  if (standing.state === "young" && problem === undefined) return undefined;
  const message = problem?.message ?? "its last value is too old";
  return { missing: `query ${name}: ${message}`, fault: problem !== undefined && isFault(problem) };
}
