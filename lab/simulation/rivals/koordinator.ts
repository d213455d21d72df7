/**
 * Koordinator's CPU burst policy, the part that scales quotas (`cfsQuotaBurstOnly`), with the
 * defaults of its NodeSLO: cfsQuotaBurstPercent 300, sharePoolThresholdPercent 50,
 * cfsQuotaBurstPeriodSeconds -1 (https://koordinator.sh/docs/user-manuals/cpu-burst/).
 *
 * The other part, `cpu.cfs_burst_us`, by which the kernel lets unused quota be spent later, has no
 * place among limits and is not here.
 *
 * @module
 */
import { perPod, type PodRule, type Rival, type RivalNode, type RivalPod } from "./rival.ts";

/** koordlet's reconcile interval of the policy. */
const LOOK_MS = 1000;
const UP = 1.2;
const DOWN = 0.8;
/** cfsQuotaBurstPercent 300. */
const MOST = 3;
/** sharePoolThresholdPercent: usage of the node from which it is busy, as a share of its CPU. */
const BUSY_SHARE = 0.5;
/** From this share of the threshold on, the node is too warm to raise anything. */
const COOLING = 0.9;
/** The node's usage is averaged over as many looks. */
const NODE_LOOKS = 5;
/** Below this share of its original limit a pod saves budget. */
const SAVING_BELOW = 0.6;
/** The original begins with a random share below a half; the mean of that. */
const FIRST_SHARE = 0.25;

/**
 * Every second: a pod that was throttled gets 1.2 times the quota, up to three times its original
 * limit; if the node is busy or the pod's budget spent it gets 0.8 times the quota, down to its
 * original limit. Otherwise the quota stays: a pod that bursts no longer keeps it while the node has
 * room. From nine tenths of the node's threshold on nothing is raised.
 *
 * The budget is a bucket of (3 − 1) × budget seconds of the original limit, a quarter full at the
 * start. With u = usage / original limit, a second at u ≥ 1 takes u − 1, a second at u < 0.6 adds 1 −
 * u; it may owe as much as it holds, and bursting is allowed above 0.
 *
 * `budgetS` is cfsQuotaBurstPeriodSeconds: how long a pod with a full budget may use three times its
 * limit, s. Without end by default, as in the original.
 */
export function koordinator(budgetS = Infinity): Rival {
  return perPod({
    algorithm: "koordinator",
    setting: budgetS === Infinity ? "no budget" : `budget ${budgetS} s`,
    lookMs: LOOK_MS,
    createRule: (pod, node) => koordinatorRule(pod, { node, budgetS }),
  });
}

function koordinatorRule(
  pod: RivalPod,
  { node, budgetS }: { readonly node: RivalNode; readonly budgetS: number },
): PodRule {
  const base = pod.originalLimit;
  const most = Math.max(base, Math.min(MOST * base, pod.ceiling));
  const mayBurst = budgetS === Infinity ? () => true : createBudget((MOST - 1) * budgetS);
  const nodeUsages: number[] = [];
  let quota = base;
  return ({ usage, nodeUsage, throttledPeriods, elapsedMs }) => {
    nodeUsages.push(nodeUsage);
    if (nodeUsages.length > NODE_LOOKS) nodeUsages.shift();
    const meanUsage = nodeUsages.reduce((sum, value) => sum + value, 0) / nodeUsages.length;
    const warmth = meanUsage / node.cpu / BUSY_SHARE;
    const allowed = mayBurst(usage / base, elapsedMs / 1000);
    if (!allowed || warmth >= 1) quota *= DOWN;
    else if (throttledPeriods > 0 && warmth < COOLING) quota *= UP;
    quota = Math.max(base, Math.min(quota, most));
    return quota;
  };
}

/**
 * A bucket of `size` seconds of the original limit; says whether bursting is allowed after `seconds`.
 */
function createBudget(size: number): (use: number, seconds: number) => boolean {
  let left = size * FIRST_SHARE;
  return (use, seconds) => {
    if (use >= 1 || use < SAVING_BELOW) left += (1 - use) * seconds;
    left = Math.max(-size, Math.min(left, size));
    return left > 0;
  };
}
