/**
 * Kubernetes' HorizontalPodAutoscaler by CPU utilisation, with the defaults of autoscaling/v2
 * (https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/).
 *
 * The arena's node has limits, no replicas. A service of n replicas is taken as one pod with n times
 * the replica's limit. That is generous to the HPA: the load is balanced perfectly, no request waits
 * at one replica while another idles, and a new replica costs no CPU to start. So is the metric: the
 * last 15 s up to the decision, where metrics-server's are up to 15 s older.
 *
 * @module
 */
import { perPod, type PodRule, type Rival, type RivalPod } from "./rival.ts";

/** Shares of the request to be used. */
export const UTILISATION_TARGETS: readonly number[] = [0.5, 0.6, 0.7, 0.8];

/** `--horizontal-pod-autoscaler-sync-period`, and metrics-server's resolution. */
const SYNC_MS = 15_000;
/** `--horizontal-pod-autoscaler-tolerance`. */
const TOLERANCE = 0.1;
/** `behavior.scaleDown.stabilizationWindowSeconds`. */
const STABILISE_MS = 300_000;
/** `behavior.scaleUp.policies`: the larger of 100 % and 4 pods in 15 s. */
const GROWTH = 2;
const MORE_PODS = 4;
/** Request, and limit, of a replica as a share of the pod's request. */
const REPLICA_SHARE = 0.25;
/** From the request for a replica until it serves. */
const READY_AFTER_MS = 10_000;
/** Often enough to see both the decisions and the moments when replicas are ready. */
const LOOK_MS = 5000;
/** The smallest quota that the kubelet sets, millicores. */
const LEAST_REPLICA = 10;
/** Before rounding up, so that 6.0000000001 replicas are 6. */
const SLACK = 1e-9;

/**
 * Every 15 s: desired = ⌈replicas × utilisation / target⌉, unchanged within a tenth of the target.
 * More replicas at once, at most to the larger of twice and four more; fewer only down to the highest
 * number desired in the last 300 s, the number at the start included. New replicas serve after
 * 10 s, surplus ones are gone at once. The service begins with as many as its original limit makes, and
 * has at least those that make its floor, at most those that fit under its ceiling.
 *
 * Replicas that do not serve yet count with no usage, as in the original when it scales up; with a
 * load spread evenly this yields the same number as leaving them out.
 */
export function hpa(target: number): Rival {
  return perPod({
    algorithm: "hpa",
    setting: `target ${target}`,
    lookMs: LOOK_MS,
    createRule: (pod) => hpaRule(pod, target),
  });
}

function hpaRule(pod: RivalPod, target: number): PodRule {
  const replica = Math.max(LEAST_REPLICA, pod.request * REPLICA_SHARE);
  const least = Math.max(1, Math.ceil(pod.floor / replica - SLACK));
  const most = Math.max(least, Math.floor(pod.ceiling / replica + SLACK));
  const cut = (replicas: number) => Math.max(least, Math.min(replicas, most));

  let replicas = cut(Math.round(pod.originalLimit / replica));
  let ready = replicas;
  const starting: { readonly dueMs: number; readonly replicas: number }[] = [];
  const desiredThen: { readonly atMs: number; readonly replicas: number }[] = [
    { atMs: 0, replicas },
  ];
  let usedMs = 0;
  let spanMs = 0;

  function desired(usage: number): number {
    const ratio = usage / (replicas * replica) / target;
    if (Math.abs(ratio - 1) <= TOLERANCE + SLACK) return replicas;
    return Math.ceil(replicas * ratio - SLACK);
  }

  function decide(usage: number, atMs: number): void {
    const now = desired(usage);
    desiredThen.push({ atMs, replicas: now });
    while ((desiredThen[0]?.atMs ?? atMs) < atMs - STABILISE_MS) desiredThen.shift();
    const stable = Math.max(...desiredThen.map((past) => past.replicas));
    const fastest = Math.max(replicas * GROWTH, replicas + MORE_PODS);
    if (now > replicas) {
      replicas = cut(Math.min(now, fastest));
      starting.push({ dueMs: atMs + READY_AFTER_MS, replicas });
    } else {
      replicas = cut(Math.min(replicas, stable));
      ready = Math.min(ready, replicas);
    }
  }

  return ({ atMs, elapsedMs, usageMs }) => {
    usedMs += usageMs;
    spanMs += elapsedMs;
    if (atMs % SYNC_MS === 0) {
      decide(usedMs / spanMs * 1000, atMs);
      usedMs = 0;
      spanMs = 0;
    }
    for (let due = starting[0]; due !== undefined && due.dueMs <= atMs; due = starting[0]) {
      starting.shift();
      ready = Math.min(replicas, Math.max(ready, due.replicas));
    }
    return ready * replica;
  };
}
