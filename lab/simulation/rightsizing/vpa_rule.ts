/**
 * What Kubernetes' VerticalPodAutoscaler would recommend, written from its documentation
 * (https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler/docs) and the
 * defaults of version 1.8.1: `pkg/recommender`, `config/config.go`, `logic/recommender.go`,
 * `logic/estimator.go`, `model/aggregations_config.go` and `model/container.go`.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import { createDecayingHistogram, FIRST_MEMORY_BUCKET } from "../rivals/decaying_histogram.ts";
import type { Proposal, RightsizingRule, RuleRun } from "./rule.ts";

/** Percentiles of target and bounds, of both resources. */
const TARGET = 0.9;
const LOWER = 0.5;
const UPPER = 0.95;
/** `--recommendation-margin-fraction`. */
const MARGIN = 1.15;
/** `--pod-recommendation-min-cpu-millicores` and `--pod-recommendation-min-memory-mb`, for one container. */
const LEAST: Readonly<Record<ResourceName, number>> = { cpu: 25, memory: 250 * 2 ** 20 };
/** CPU samples weigh as much as the request in cores, and at least this. */
const LEAST_WEIGHT = 0.1;
const DAY_MS = 86_400_000;
/** Samples that the confidence takes for a day: the recommender runs once a minute. */
const SAMPLES_PER_DAY = 1440;
/** After a kill: a peak of this much more than request and peak. */
const KILL_RATIO = 1.2;
const KILL_BYTES = 100 * 2 ** 20;

/** Its recommender. `vpaUpdater()` is what it does about it. */
export function vpaRule(): RightsizingRule {
  return {
    name: "vpa",
    setting: "",
    begin: (resource) => resource === "cpu" ? beginCPU() : beginMemory(),
  };
}

/** All samples in one histogram, weighed by the request. */
function beginCPU(): RuleRun {
  const histogram = createDecayingHistogram();
  const history = seenHistory();
  return {
    observe({ atMs, usage, inForce = 0 }) {
      const weight = Math.max(inForce / 1000, LEAST_WEIGHT);
      histogram.add({ value: usage, weight, atMs: history.see(atMs) });
    },
    killed() {},
    recommend: (atMs) =>
      history.isEmpty() ? undefined : proposal((share) => histogram.percentile(share), {
        days: history.days(atMs),
        least: LEAST.cpu,
      }),
  };
}

/** The peak of each 24 hours is one sample, dated at their end. */
function beginMemory(): RuleRun {
  const history = seenHistory();
  const peaks: { readonly endMs: number; usage: number; kill: number }[] = [];
  function peakAt(sinceMs: number): { usage: number; kill: number } {
    const last = peaks.at(-1);
    if (last !== undefined && sinceMs < last.endMs) return last;
    const begun = { endMs: (Math.floor(sinceMs / DAY_MS) + 1) * DAY_MS, usage: 0, kill: 0 };
    peaks.push(begun);
    return begun;
  }
  return {
    observe({ atMs, usage }) {
      const peak = peakAt(history.see(atMs));
      peak.usage = Math.max(peak.usage, usage);
    },
    killed({ atMs, inForce }) {
      const peak = peakAt(history.see(atMs));
      // Of earlier kills only what was set after them counts, or several would drive it too high.
      const used = Math.max(inForce, peak.usage);
      peak.kill = Math.max(peak.kill, used * KILL_RATIO, used + KILL_BYTES);
    },
    recommend(atMs) {
      if (history.isEmpty()) return undefined;
      const histogram = createDecayingHistogram({ firstBucket: FIRST_MEMORY_BUCKET });
      for (const { endMs, usage, kill } of peaks) {
        histogram.add({ value: Math.max(usage, kill), weight: 1, atMs: endMs });
      }
      return proposal((share) => histogram.percentile(share), {
        days: history.days(atMs),
        least: LEAST.memory,
      });
    },
  };
}

/**
 * Percentiles with the margin, and bounds by the confidence: n days of history multiply the upper
 * bound by 1 + 1 / n (12 h: 3, a week: 1.14) and the lower one by (1 + 0.001 / n)^−2.
 */
function proposal(
  percentile: (share: number) => number,
  { days, least }: { readonly days: number; readonly least: number },
): Proposal {
  const at = (share: number, confidence = 1): number =>
    Math.max(least, Math.ceil(percentile(share) * MARGIN * confidence));
  return {
    value: at(TARGET),
    lower: at(LOWER, (1 + 0.001 / days) ** -2),
    upper: at(UPPER, 1 + 1 / days),
  };
}

/** Times count from the first sample: what doubles daily must not begin in 1970. */
function seenHistory(): {
  /** Takes note of a sample; its time since the first. */
  readonly see: (atMs: number) => number;
  readonly isEmpty: () => boolean;
  readonly days: (atMs: number) => number;
} {
  let firstMs: number | undefined;
  let samples = 0;
  return {
    see(atMs) {
      firstMs ??= atMs;
      samples++;
      return atMs - firstMs;
    },
    isEmpty: () => samples === 0,
    days: (atMs) => Math.min((atMs - (firstMs ?? atMs)) / DAY_MS, samples / SAMPLES_PER_DAY),
  };
}
