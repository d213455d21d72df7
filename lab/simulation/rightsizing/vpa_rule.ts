/**
 * The recommendation of Kubernetes' VerticalPodAutoscaler, written from its documentation
 * (https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler/docs) and the defaults
 * of version 1.8.1: `pkg/recommender`, `config/config.go`, `logic/recommender.go`,
 * `logic/estimator.go`, `model/aggregations_config.go` and `model/container.go`.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
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
  const histogram = new DecayingHistogram("cpu");
  const history = new SeenHistory();
  return {
    observe({ atMs, usage, inForce = 0 }) {
      const weight = Math.max(inForce / 1000, LEAST_WEIGHT);
      histogram.add({ value: usage, weight, atMs: history.see(atMs) });
    },
    killed() {},
    recommend: (atMs) =>
      history.isEmpty() ? undefined : proposal(histogram, {
        days: history.days(atMs),
        least: LEAST.cpu,
      }),
  };
}

/** The peak of each 24 hours is one sample, dated at their end. */
function beginMemory(): RuleRun {
  const history = new SeenHistory();
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
      // Only the value set after earlier kills counts, or several would drive it too high.
      const used = Math.max(inForce, peak.usage);
      peak.kill = Math.max(peak.kill, used * KILL_RATIO, used + KILL_BYTES);
    },
    recommend(atMs) {
      if (history.isEmpty()) return undefined;
      const histogram = new DecayingHistogram("memory");
      for (const { endMs, usage, kill } of peaks) {
        histogram.add({ value: Math.max(usage, kill), weight: 1, atMs: endMs });
      }
      return proposal(histogram, { days: history.days(atMs), least: LEAST.memory });
    },
  };
}

/**
 * Percentiles with the margin, and bounds by the confidence: n days of history multiply the upper
 * bound by 1 + 1 / n (12 h: 3, a week: 1.14) and the lower one by (1 + 0.001 / n)^−2.
 */
function proposal(
  histogram: DecayingHistogram,
  { days, least }: { readonly days: number; readonly least: number },
): Proposal {
  const at = (share: number, confidence = 1): number =>
    Math.max(least, Math.ceil(histogram.percentile(share) * MARGIN * confidence));
  return {
    value: at(TARGET),
    lower: at(LOWER, (1 + 0.001 / days) ** -2),
    upper: at(UPPER, 1 + 1 / days),
  };
}

/** Times count from the first sample: what doubles daily must not begin in 1970. */
class SeenHistory {
  #firstMs: number | undefined;
  #samples = 0;

  /** Takes note of a sample; its time since the first. */
  see(atMs: number): number {
    this.#firstMs ??= atMs;
    this.#samples++;
    return atMs - this.#firstMs;
  }

  isEmpty(): boolean {
    return this.#samples === 0;
  }

  days(atMs: number): number {
    return Math.min((atMs - (this.#firstMs ?? atMs)) / DAY_MS, this.#samples / SAMPLES_PER_DAY);
  }
}

/** Width of the first bucket, millicores or bytes; each next one is 5 % wider. */
const FIRST_BUCKET: Readonly<Record<ResourceName, number>> = { cpu: 10, memory: 1e7 };
const GROWTH = 1.05;
/** 24 h, ms. */
const HALF_LIFE_MS = 86_400_000;

/**
 * Weights by value, the older the lighter: from it the recommender reads percentiles of usage. Bucket
 * n of CPU ends at 10 m × (1.05^(n+1) − 1) / 0.05: 10, 20.5, 31.525 m. Instead of making old samples
 * lighter it makes new ones heavier, 2^(age of the histogram / 24 h): the percentile is the same, and
 * numbers hold out for 1,000 days.
 */
export class DecayingHistogram {
  readonly #firstBucket: number;
  readonly #weights: number[] = [];
  #total = 0;

  constructor(resource: ResourceName) {
    this.#firstBucket = FIRST_BUCKET[resource];
  }

  /** Adds a value of at least 0 with a weight above 0. Samples come in any order. */
  add({ value, weight, atMs }: Readonly<Record<"value" | "weight" | "atMs", number>>): void {
    const widths = value / this.#firstBucket;
    const bucket = Math.max(0, Math.floor(Math.log(widths * (GROWTH - 1) + 1) / Math.log(GROWTH)));
    while (this.#weights.length <= bucket) this.#weights.push(0);
    const decayed = weight * 2 ** (atMs / HALF_LIFE_MS);
    this.#weights[bucket] = (this.#weights[bucket] ?? 0) + decayed;
    this.#total += decayed;
  }

  /** Upper end of the bucket in which the share `share` of the weight is reached; 0 when empty. */
  percentile(share: number): number {
    let sum = 0;
    const reached = this.#weights.findIndex((weight) => {
      sum += weight;
      return weight > 0 && sum >= share * this.#total;
    });
    const last = reached < 0 ? this.#weights.length - 1 : reached;
    return this.#firstBucket * (GROWTH ** (last + 1) - 1) / (GROWTH - 1);
  }
}
