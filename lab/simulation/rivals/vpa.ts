/**
 * Kubernetes' VerticalPodAutoscaler with defaults, in place (InPlaceOrRecreate): the recommender of
 * `rightsizing/vpa_rule.ts`. Which pods are updated, and when, was compared with
 * `pkg/updater/priority` of version 1.8.1.
 *
 * @module
 */
import type { Proposal } from "../rightsizing/rule.ts";
import { vpaRule } from "../rightsizing/vpa_rule.ts";
import { perPod, type PodRule, type Rival, type RivalPod } from "./rival.ts";

/** The VPA's treatment of limits, and the times at which it acts. */
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
/** Least difference for an update. */
const LEAST_CHANGE = 0.1;

/**
 * Every minute the recommender gets a sample, and recommends. The updater acts on what was recommended
 * a minute before: both run once a minute and do not wait for each other. A quota censors usage, so
 * limits below demand climb by steps.
 */
export function vpa(options: VpaOptions = {}): Rival {
  const { limit = "ratio", act = "difference" } = options;
  const by = limit === "ratio" ? "limit by ratio" : "limit = target";
  return perPod({
    algorithm: "vpa",
    setting: `${by}, ${act === "difference" ? "at 10 %" : "outside bounds"}`,
    lookMs: LOOK_MS,
    createRule: (pod) => podRule(pod, { limit, act }),
  });
}

function podRule(pod: RivalPod, { limit, act }: Required<VpaOptions>): PodRule {
  let request = Math.max(1, limit === "ratio" ? pod.request : pod.originalLimit);
  const ratio = pod.originalLimit / request;
  const recommender = vpaRule().begin("cpu");
  let recommended: Proposal | undefined;

  function isOff({ value, lower = value, upper = value }: Proposal): boolean {
    if (act === "bounds") return request < lower || request > upper;
    return Math.abs(value - request) > LEAST_CHANGE * request;
  }

  return ({ atMs, usage }) => {
    if (atMs % ROUND_MS !== 0) return undefined;
    const toSet = recommended !== undefined && isOff(recommended) ? recommended.value : undefined;
    recommender.observe({ atMs, usage, inForce: request });
    recommended = recommender.recommend(atMs);
    if (toSet === undefined) return undefined;
    request = toSet;
    return request * ratio;
  };
}
