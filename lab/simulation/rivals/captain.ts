/**
 * Autothrottle's Captain: limits driven by the share of throttled periods (Wang et al.,
 * "Autothrottle: A Practical Bi-Level Approach to Resource Management for SLO-Targeted
 * Microservices", NSDI 2024).
 *
 * The paper's upper level, which chooses the target while it runs, is not here: each target is a
 * setting of its own, and the arena takes the best for each trace.
 *
 * @module
 */
import { perPod, type PodRule, type Rival, type RivalPod } from "./rival.ts";

/** Shares of throttled periods that the paper's upper level chooses from. */
export const THROTTLE_TARGETS: readonly number[] = [
  0,
  0.02,
  0.04,
  0.06,
  0.1,
  0.15,
  0.2,
  0.25,
  0.3,
];

/** A reading per CFS period; a decision for ten of them. */
const LOOK_MS = 100;
const DECIDE_MS = 1000;
const PERIODS = DECIDE_MS / LOOK_MS;
/**
 * Standard deviations above the highest usage, to begin with, as in the authors' program
 * (https://github.com/microsoft/autothrottle).
 */
const FIRST_MARGIN = 3;
/** Readings with usage that is remembered: 5 s. */
const REMEMBERED = 50;
/** Multiple of the target above which the limit is raised. */
const TOLERANCE = 3;
/** A proposal above this share of the limit is not worth a change; no step goes below that share. */
const WORTH_A_CUT = 0.9;
const DEEPEST_CUT = 0.5;
/** The smallest quota that the kubelet sets, millicores. */
const LEAST_LIMIT = 10;
/** 9 of 10 periods are not more than 3 × 0.3, which in binary is 0.8999999999999999. */
const SLACK = 1e-9;

/**
 * Reads every 100 ms, decides every second. With r = throttled periods / the second's ten periods:
 *
 * - margin += r − target, at least 0;
 * - r > 3 target: limit × (1 + r − 3 target);
 * - else proposal = highest usage of 5 s + margin × its standard deviation; if that is at most 0.9 of
 *   the limit: the larger of it and half the limit;
 * - within the second after such a cut, as soon as r of that second exceeds 3 target: 2 × the limit
 *   before the cut − the limit after it, so more than was taken; margin += r − target. A decision
 *   that falls due at the same reading is left out, and periods that paid for it are not counted
 *   again.
 *
 * r counts periods of time, not those in which the pod was runnable: one throttled period of a pod
 * that sleeps for the other nine is 0.1, as in the paper. Its original limit stays within floor and
 * ceiling.
 *
 * With target 0 one throttled period in a second is too much, a raise is by the whole r, one
 * throttled period takes a cut back, and margin never falls: every period ever throttled keeps the
 * limit further above usage, so that it rests where throttling is over for good.
 */
export function captain(target: number): Rival {
  return perPod({
    algorithm: "captain",
    setting: `target ${target}`,
    lookMs: LOOK_MS,
    createRule: (pod) => captainRule(pod, target),
  });
}

function captainRule(pod: RivalPod, target: number): PodRule {
  const bounds = { floor: Math.max(LEAST_LIMIT, pod.floor), ceiling: pod.ceiling };
  const usages: number[] = [];
  const tolerated = TOLERANCE * target;
  let margin = FIRST_MARGIN;
  let limit = pod.originalLimit;
  let beforeCut: number | undefined;
  let throttled = 0;

  function giveBack(from: number, share: number): void {
    limit = 2 * from - limit;
    margin += share - target;
  }

  function decide(share: number): void {
    margin = Math.max(0, margin + share - target);
    beforeCut = undefined;
    if (share > tolerated + SLACK) {
      limit *= 1 + share - tolerated;
      return;
    }
    const proposal = Math.max(...usages) + margin * deviation(usages);
    if (proposal > WORTH_A_CUT * limit) return;
    beforeCut = limit;
    limit = Math.max(DEEPEST_CUT * limit, proposal);
  }

  return ({ atMs, usage, throttledPeriods }) => {
    usages.push(usage);
    if (usages.length > REMEMBERED) usages.shift();
    throttled += throttledPeriods;
    const share = throttled / PERIODS;
    if (beforeCut !== undefined && share > tolerated + SLACK) {
      giveBack(beforeCut, share);
      beforeCut = undefined;
    } else if (atMs % DECIDE_MS === 0) {
      decide(share);
    } else {
      return undefined;
    }
    throttled = 0;
    // Or it would climb out of reach while the ceiling holds it.
    limit = Math.max(bounds.floor, Math.min(limit, bounds.ceiling));
    return limit;
  };
}

/** Standard deviation of a sample; 0 for a single value. */
function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}
