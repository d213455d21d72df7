/**
 * Kubernetes' VerticalPodAutoscaler with defaults, in place (InPlaceOrRecreate), written from its
 * documentation (https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler/docs).
 * Percentiles, margin, multipliers of bounds and least sample weight were compared with version 1.8.1:
 * `pkg/recommender` (`config/config.go`, `logic/recommender.go`, `logic/estimator.go`,
 * `model/aggregations_config.go`); which pods are updated, and when, with `pkg/updater/priority`.
 *
 * @module
 */
import { createDecayingHistogram } from "./decaying_histogram.ts";
import { perPod, type PodRule } from "./per_pod.ts";
import type { Rival, RivalPod } from "./rival.ts";

/** What a VPA does with limits, and when it acts. */
export interface VpaOptions {
  /**
   * `ratio`: the limit keeps its ratio to the request, which the VPA sets. `target`: the request
   * has been raised to the limit before, so that both are the target.
   *
   * @default {"ratio"}
   */
  readonly limit?: "ratio" | "target";
  /**
   * `difference`: as soon as the target is off by more than 10 % from what is set; quicker than the
   * original. `bounds`: when what is set lies outside the recommended bounds, the original's rule
   * for pods younger than 12 h. Bounds are wide while there is little history.
   *
   * @default {"difference"}
   */
  readonly act?: "difference" | "bounds";
}

/** metrics-server's resolution: the usage that a sample carries is the mean of the last 15 s. */
const LOOK_MS = 15_000;
/** Recommender and updater each run once a minute. */
const ROUND_MS = 60_000;
const ROUNDS_PER_DAY = 86_400_000 / ROUND_MS;
/** Percentiles of target and bounds. */
const TARGET = 0.9;
const LOWER = 0.5;
const UPPER = 0.95;
/** `--recommendation-margin-fraction`. */
const MARGIN = 1.15;
/** `--pod-recommendation-min-cpu-millicores`. */
const LEAST_TARGET = 25;
/** Least difference for an update. */
const LEAST_CHANGE = 0.1;
/** Samples weigh as much as the request in cores, and at least this. */
const LEAST_WEIGHT = 0.1;

interface Recommendation {
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

/**
 * Every minute a sample goes into a histogram of 24 h half-life, weighted by the request in force.
 * Target = its 90th percentile × 1.15, at least 25 m. The updater acts on what was recommended a
 * minute before: both run once a minute and do not wait for each other.
 *
 * Bounds, with n days of history: the median × 1.15 × (1 + 0.001 / n)^−2 and the 95th percentile ×
 * 1.15 × (1 + 1 / n). A quota censors usage, so limits below demand climb by steps.
 */
export function vpa(options: VpaOptions = {}): Rival {
  const { limit = "ratio", act = "difference" } = options;
  const by = limit === "ratio" ? "limit by ratio" : "limit = target";
  return perPod({
    algorithm: "vpa",
    setting: `${by}, ${act === "difference" ? "at 10 %" : "outside bounds"}`,
    lookMs: LOOK_MS,
    createRule: (pod) => vpaRule(pod, { limit, act }),
  });
}

function vpaRule(pod: RivalPod, { limit, act }: Required<VpaOptions>): PodRule {
  let request = Math.max(1, limit === "ratio" ? pod.request : pod.originalLimit);
  const ratio = pod.originalLimit / request;
  const histogram = createDecayingHistogram();
  let firstMs: number | undefined;
  let samples = 0;
  let recommended: Recommendation | undefined;

  function recommend(atMs: number): Recommendation {
    const days = Math.min((atMs - (firstMs ?? atMs)) / 86_400_000, samples / ROUNDS_PER_DAY);
    const at = (share: number) => Math.max(LEAST_TARGET, histogram.percentile(share) * MARGIN);
    return {
      target: at(TARGET),
      lower: at(LOWER) * (1 + 0.001 / days) ** -2,
      upper: at(UPPER) * (1 + 1 / days),
    };
  }

  function isOff({ target, lower, upper }: Recommendation): boolean {
    if (act === "bounds") return request < lower || request > upper;
    return Math.abs(target - request) > LEAST_CHANGE * request;
  }

  return ({ atMs, usage }) => {
    if (atMs % ROUND_MS !== 0) return undefined;
    const toSet = recommended !== undefined && isOff(recommended) ? recommended.target : undefined;
    histogram.add({ value: usage, weight: Math.max(request / 1000, LEAST_WEIGHT), atMs });
    firstMs ??= atMs;
    samples++;
    recommended = recommend(atMs);
    if (toSet === undefined) return undefined;
    request = toSet;
    return request * ratio;
  };
}
