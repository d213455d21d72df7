/**
 * Vertical limits by the rule of Kubernetes' HPA, as the Autothrottle paper compares itself with
 * (Wang et al., NSDI 2024): K8s-CPU with the HPA's own times, K8s-CPU-Fast with short ones.
 *
 * @module
 */
import { perPod } from "./per_pod.ts";
import type { Rival } from "./rival.ts";

/** Shares of the limit that usage is to take, of which the best is taken for each trace. */
export const USAGE_TARGETS: readonly number[] = [0.4, 0.5, 0.6, 0.7];

/** How often the rule decides and how long it remembers, ms. */
interface Times {
  readonly everyMs: number;
  readonly windowMs: number;
}

/** The HPA's sync period and stabilisation of scaling down. */
const SLOW: Times = { everyMs: 15_000, windowMs: 300_000 };
/** The paper's fast variant. */
const FAST: Times = { everyMs: 1000, windowMs: 20_000 };

/** Every 15 s: limit = the highest usage of the last 300 s / target. */
export function k8sCpu(target: number): Rival {
  return usageOverTarget("k8s-cpu", { target, ...SLOW });
}

/** Every second: limit = the highest usage of the last 20 s / target. */
export function k8sCpuFast(target: number): Rival {
  return usageOverTarget("k8s-cpu-fast", { target, ...FAST });
}

/** Usage is the mean over each interval between two decisions. */
function usageOverTarget(
  algorithm: string,
  { target, everyMs, windowMs }: Times & { readonly target: number },
): Rival {
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
