/**
 * All algorithms that ours is measured against, each with every setting that is tried; among them limits
 * that are set once, and vertical limits by the rule of Kubernetes' HPA, as the Autothrottle paper
 * compares itself with (Wang et al., NSDI 2024): K8s-CPU with the HPA's own times, K8s-CPU-Fast with short
 * ones.
 *
 * @module
 */
import { captain, THROTTLE_TARGETS } from "./captain.ts";
import { hpa, UTILISATION_TARGETS } from "./hpa.ts";
import { koordinator } from "./koordinator.ts";
import { mbcasSeed } from "./mbcas_seed.ts";
import { perPod, type Rival, type RivalNode, type RivalPod } from "./rival.ts";
import { vpa } from "./vpa.ts";

/** A budget beside the original's default of none, s: five minutes at three times the limit. */
const BURST_BUDGET_S = 300;

/** The sweep: algorithm by algorithm, setting by setting. */
export function allRivals(): Rival[] {
  return [
    ...LIMIT_FACTORS.map(requestTimes),
    limitOfP90(),
    // As much as can be had: the whole node, cut at the ceiling that every algorithm runs under.
    staticLimit("ceiling", (_, { cpu }) => cpu),
    ...UTILISATION_TARGETS.map(hpa),
    ...USAGE_TARGETS.map((target) => usageOverTarget("k8s-cpu", target)),
    ...USAGE_TARGETS.map((target) => usageOverTarget("k8s-cpu-fast", target)),
    ...THROTTLE_TARGETS.map(captain),
    koordinator(),
    koordinator(BURST_BUDGET_S),
    vpa(),
    vpa({ limit: "target" }),
    vpa({ act: "bounds" }),
    vpa({ limit: "target", act: "bounds" }),
    mbcasSeed(),
  ];
}

/** Names of the algorithms, in the order of {@linkcode allRivals}. */
export function rivalAlgorithms(): string[] {
  return [...new Set(allRivals().map(({ algorithm }) => algorithm))];
}

/** Factors from request to limit that are tried: as tight as can be, and two common margins. */
export const LIMIT_FACTORS: readonly number[] = [1, 2, 4];
/** Margin above the 90th percentile, that of the VPA. */
const P90_MARGIN = 1.15;
/** It has nothing to learn from looks after the first. */
const LOOK_MS = 60_000;

/** Limit = request × factor. */
export function requestTimes(factor: number): Rival {
  return staticLimit(`request x ${factor}`, ({ request }) => request * factor);
}

/**
 * The 90th percentile of demand over the whole run × 1.15: what a careful person sets after having seen
 * the load before. It knows the future, though only as one number.
 */
export function limitOfP90(): Rival {
  return staticLimit(`P90 x ${P90_MARGIN}`, ({ p90Demand }) => p90Demand * P90_MARGIN);
}

function staticLimit(setting: string, limitOf: (pod: RivalPod, node: RivalNode) => number): Rival {
  return {
    algorithm: "static",
    setting,
    lookMs: LOOK_MS,
    start(pods, node) {
      const limits = pods.map((pod) => limitOf(pod, node));
      return { look: () => limits };
    },
  };
}

/** Shares of the limit that usage is to take, of which the best is taken for each trace. */
const USAGE_TARGETS: readonly number[] = [0.4, 0.5, 0.6, 0.7];

/**
 * How often the rule decides and how long it remembers, ms: the HPA's sync period and stabilisation of
 * scaling down, and the paper's fast variant.
 */
const TIMES = {
  "k8s-cpu": { everyMs: 15_000, windowMs: 300_000 },
  "k8s-cpu-fast": { everyMs: 1000, windowMs: 20_000 },
} as const;

/** Limit = the highest usage in the window / target; usage is the mean between two decisions. */
function usageOverTarget(algorithm: keyof typeof TIMES, target: number): Rival {
  const { everyMs, windowMs } = TIMES[algorithm];
  const remembered = windowMs / everyMs;
  return perPod({
    algorithm,
    setting: `target ${target}`,
    lookMs: everyMs,
    createRule() {
      const usages: number[] = [];
      return ({ usage }) => {
        usages.push(usage);
        if (usages.length > remembered) usages.shift();
        return Math.max(...usages) / target;
      };
    },
  });
}
