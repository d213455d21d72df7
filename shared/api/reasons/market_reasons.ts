/**
 * Why the market wants a limit.
 *
 * @module
 */
import { BOUND_REASONS } from "./bound_reasons.ts";
import type { Reason } from "./reason.ts";

const LOWERED =
  "nothing, unless the container is throttled; to raise the floor, raise the CPU request; " +
  'to keep the original limit, set mbcas.io/managed: "false"';

/** Why the market wants a limit; written by the agent. */
export const MARKET_REASONS = {
  FirstClearing: {
    means: "the pod takes part for the first time",
    remedy: "nothing: from now on the limit follows the pod's demand",
  },
  Throttled: {
    means: "the container was throttled by its limit",
    remedy: "nothing: the limit rises as far as its ceiling and the node allow",
  },
  DemandRose: {
    means: "the container's demand rose above its limit",
    remedy: "nothing: the limit rises as far as its ceiling and the node allow",
  },
  MetricRose: {
    means: "a metric shows that the container could use more than its limit",
    remedy: "nothing: the limit rises as far as its ceiling and the node allow",
  },
  StartupBoost: BOUND_REASONS.StartupBoost,
  DemandFell: {
    means: "the container's demand has stayed below its limit for the waiting time",
    remedy: LOWERED,
  },
  CPUFree: {
    means: "CPU is free on this node: the limit is at its ceiling",
    remedy: "nothing: the limit stays there until the node's CPU is scarce",
  },
  FundsRaise: {
    means: "the limit is above the container's estimated need: the difference goes to another " +
      "container",
    remedy: LOWERED,
  },
  NodeCongested: {
    means: "the node's containers need more CPU than it has: each gets its fair share",
    remedy: "give the pod a larger request or priority, or make room on the node",
  },
  NodeOverloaded: {
    means: "the floors alone exceed the node's CPU: limits stay at their floors",
    remedy: "move pods away from the node, or lower their requests",
  },
  FloorRose: {
    means: "the controller raised the container's floor",
    remedy: "nothing: the limit follows its floor, which the pod's rules explain",
  },
  QuotaOff: {
    means: "the kernel enforces no CPU quota for the container: the market does not move its limit",
    remedy: "set cpuCFSQuota: true in the kubelet's configuration, and give the container no " +
      "exclusive CPUs",
  },
  QuotaBack: {
    means: "the kernel enforces a CPU quota for the container again",
    remedy: "nothing: the market moves the limit again",
  },
  SchedExt: {
    means:
      "a sched_ext scheduler runs on the node, so the kernel enforces no CPU limits: the market " +
      "moves none",
    remedy:
      "detach the scheduler (/sys/kernel/sched_ext/state shows it), or exclude the node's pods " +
      "from the market",
  },
  CeilingFell: {
    means: "the controller lowered the container's ceiling",
    remedy: "nothing: the limit follows its ceiling, which the pod's rules explain",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode MARKET_REASONS}. */
export type MarketReason = keyof typeof MARKET_REASONS;
