/**
 * The designs that were played against each other: the agent's settings for each.
 *
 * @module
 */
import type { NodeLoopOptions } from "../../agent/loop.ts";
import { createEstimator } from "../../shared/demand/estimator.ts";
import { DEFAULT_PACE, type PaceOptions } from "../../shared/pacing/pace_options.ts";
import { peakOfMinute, spreadAndGrowth, throttledTime, withoutTrials } from "./losing_rules.ts";

/** One design. */
export interface Variant {
  /** What differs from the product. */
  readonly name: string;
  readonly agent: NodeLoopOptions;
}

function paced(pace: Partial<PaceOptions>): NodeLoopOptions {
  return { pace: { ...DEFAULT_PACE, ...pace } };
}

/** The product, estimates that lost, then parts and settings left out or changed one by one. */
export const VARIANTS: readonly Variant[] = [
  { name: "the product", agent: {} },
  {
    name: "estimate: usage and spread, growth while throttled",
    agent: { newRule: spreadAndGrowth },
  },
  { name: "estimate: peak of a minute", agent: { newRule: peakOfMinute } },
  { name: "estimate: throttled time", agent: { newRule: throttledTime } },
  { name: "no trials", agent: { newRule: () => withoutTrials(createEstimator()) } },
  {
    name: "patience not learnt",
    agent: { newRule: () => createEstimator({ mostPatienceMs: 150 }) },
  },
  { name: "patience 400 ms", agent: { newRule: () => createEstimator({ patienceMs: 400 }) } },
  {
    name: "trials of twice the quota",
    agent: { newRule: () => createEstimator({ freeGrowth: 2 }) },
  },
  {
    name: "level never shifts at once",
    agent: { newRule: () => createEstimator({ surprise: 1e9 }) },
  },
  { name: "wait target 50 ms", agent: { waitTargetMs: 50 } },
  { name: "wait target 75 ms", agent: { waitTargetMs: 75 } },
  { name: "wait target 150 ms", agent: { waitTargetMs: 150 } },
  { name: "no common wait", agent: { needUpTo: 1e6 } },
  { name: "needs up to 70 %", agent: { needUpTo: 0.7 } },
  { name: "needs up to 90 %", agent: { needUpTo: 0.9 } },
  { name: "no roll-back of trials", agent: paced({ trialWaitMs: 30_000 }) },
  { name: "no margin", agent: paced({ raiseMargin: 0 }) },
  { name: "raises of a fifth only", agent: paced({ raiseHysteresis: 0.2 }) },
];
