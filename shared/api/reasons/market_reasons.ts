/**
 * Why the market wants a limit.
 *
 * @module
 */
import { BOUND_REASONS } from "./bound_reasons.ts";
import type { Reason } from "./reason.ts";

const LOWERED = "nothing, while the container is not throttled; a larger CPU request raises the " +
  'floor, no annotation does; mbcas.io/managed: "false" keeps the original limit';

/** Why the market wants a limit; written by the agent. */
export const MARKET_REASONS = {
  FirstClearing: {
    means: "the pod takes part for the first time",
    remedy: "nothing: from now on the limit follows the demand",
  },
  Throttled: {
    means: "the container was throttled by its limit",
    remedy: "nothing: the limit goes up as far as ceiling and node allow",
  },
  DemandRose: {
    means: "the container's demand rose above its limit",
    remedy: "nothing: the limit goes up as far as ceiling and node allow",
  },
  MetricRose: {
    means: "a metric says that the container could use more than its limit",
    remedy: "nothing: the limit goes up as far as ceiling and node allow",
  },
  StartupBoost: BOUND_REASONS.StartupBoost,
  DemandFell: {
    means: "the container has needed less for the waiting time",
    remedy: LOWERED,
  },
  CPUFree: {
    means: "CPU is free on this node: the limit is at its ceiling",
    remedy: "nothing: the limit stays there until the node's CPU is scarce",
  },
  FundsRaise: {
    means: "another container's raise is paid for with what this one has above its estimated need",
    remedy: LOWERED,
  },
  NodeCongested: {
    means: "the node's containers need more than it has: the limit is the fair share",
    remedy: "a larger request or priority gives a larger share; so does a less busy node",
  },
  NodeOverloaded: {
    means: "the floors alone exceed the node: limits stay at their floors",
    remedy: "move pods away from the node, or lower their requests",
  },
  FloorRose: {
    means: "the container's floor was raised",
    remedy: "nothing: the limit follows its floor, which the pod's rules explain",
  },
  QuotaOff: {
    means:
      "the kernel has no CPU quota for the container: its limit is not enforced, and not moved",
    remedy: "it takes cpuCFSQuota: true in the node's kubelet configuration, and no exclusive CPUs",
  },
  QuotaBack: {
    means: "the kernel has a CPU quota for the container again: its limit counts, and moves",
    remedy: "nothing: the limit moves again",
  },
  SchedExt: {
    means:
      "a sched_ext scheduler is attached on the node: the kernel enforces no CPU limit, and none " +
      "is moved",
    remedy:
      "detach it, as /sys/kernel/sched_ext/state shows; or leave the node's pods out of the " +
      "market",
  },
  CeilingFell: {
    means: "the container's ceiling was lowered",
    remedy: "nothing: the limit follows its ceiling, which the pod's rules explain",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode MARKET_REASONS}. */
export type MarketReason = keyof typeof MARKET_REASONS;
