/**
 * What is asked of a Prometheus about one workload.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import type { UsageQuestion, UsageWindow } from "../ports.ts";
import { podNamePattern, regexText } from "./pod_names.ts";

/** Moments of evaluation: the first, the last, and all between at this distance. */
export interface Moments {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** The range of the rate. */
const RATE_RANGE = "2m";
/** As long as that range: each second counts once. */
const LONGEST_STEP_MS = 120_000;
const LEAST_STEP_MS = 15_000;
/** Of a short window, so that its percentiles stand on something. */
const POINTS_WANTED = 720;
/** What Prometheus answers for one series at most. */
const MOST_POINTS = 11_000;

/**
 * The moments of a window: from its end backwards, all of them after its beginning. The step is a
 * 720th of the window, from 15 s to 2 min, and longer where there would be more than 11,000 moments:
 * 1 h: 15 s; 24 h: 2 min; 30 days: 4 min. A window below 15 s has one moment.
 */
export function momentsOf({ fromMs, toMs }: UsageWindow): Moments {
  const windowMs = toMs - fromMs;
  if (!(windowMs > 0 && windowMs < Infinity)) {
    throw new RangeError(`Cannot divide a window: it is ${windowMs} ms long, expected more than 0`);
  }
  const wanted = Math.min(LONGEST_STEP_MS, Math.max(LEAST_STEP_MS, windowMs / POINTS_WANTED));
  const stepMs = wholeSeconds(Math.max(wanted, windowMs / MOST_POINTS));
  const steps = Math.ceil(windowMs / stepMs) - 1;
  return { startMs: toMs - steps * stepMs, endMs: toMs, stepMs };
}

function wholeSeconds(ms: number): number {
  return 1000 * Math.ceil(ms / 1000);
}

/** How many moments these are. */
export function countMoments({ startMs, endMs, stepMs }: Moments): number {
  return Math.round((endMs - startMs) / stepMs) + 1;
}

/** The moments in this many parts, in order, each moment in one; fewer where there are not as many. */
export function splitMoments(moments: Moments, parts: number): readonly Moments[] {
  const { startMs, stepMs } = moments;
  const count = countMoments(moments);
  const each = Math.ceil(count / Math.min(parts, count));
  return Array.from({ length: Math.ceil(count / each) }, (_, index) => {
    const from = index * each;
    const to = Math.min(count, from + each) - 1;
    return { startMs: startMs + from * stepMs, endMs: startMs + to * stepMs, stepMs };
  });
}

/**
 * One query a resource, over all pods and containers: cores as rates over 2 min, and bytes of the
 * working set. Series that differ in other labels only are the same thing seen twice, by several
 * collectors or before and after a container's restart, so the largest counts.
 */
export function usageQueries(
  question: UsageQuestion,
  { matchers = [] }: {
    /** Of other labels, `cluster="prod"`. @default none */
    readonly matchers?: readonly string[];
  } = {},
): Readonly<Record<ResourceName, string>> {
  const { namespace, containers } = question;
  const selector = [
    `namespace=${quoted(namespace)}`,
    `pod=~${quoted(podsPattern(question))}`,
    `container=~${quoted(containers.map(regexText).join("|"))}`,
    ...matchers,
  ].join(",");
  const cpu = `rate(container_cpu_usage_seconds_total{${selector}}[${RATE_RANGE}])`;
  const memory = `container_memory_working_set_bytes{${selector}}`;
  return { cpu: `max by (pod,container) (${cpu})`, memory: `max by (pod,container) (${memory})` };
}

/** By the rule of the names, and by name where a living pod does not follow it. */
function podsPattern({ workload, pods }: UsageQuestion): string {
  const rule = podNamePattern(workload);
  const byRule = new RegExp(`^(?:${rule})$`);
  return [rule, ...pods.filter((pod) => !byRule.test(pod)).map(regexText)].join("|");
}

/** A string of PromQL: its escapes are those of Go, of which JSON's are some. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
