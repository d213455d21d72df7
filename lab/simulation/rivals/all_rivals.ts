/**
 * All algorithms that ours is measured against, each with every setting that is tried.
 *
 * @module
 */
import { captain, THROTTLE_TARGETS } from "./captain.ts";
import { hpa, UTILISATION_TARGETS } from "./hpa.ts";
import {
  ceilingLimit,
  k8sCpu,
  k8sCpuFast,
  LIMIT_FACTORS,
  limitOfP90,
  requestTimes,
  USAGE_TARGETS,
} from "./static_limit.ts";
import { koordinator } from "./koordinator.ts";
import { mbcasSeed } from "./mbcas_seed.ts";
import type { Rival } from "./rival.ts";
import { vpa } from "./vpa.ts";

/** A budget beside the original's default of none, s: five minutes at three times the limit. */
const BURST_BUDGET_S = 300;

/** The sweep: algorithm by algorithm, setting by setting. */
export function allRivals(): Rival[] {
  return [
    ...LIMIT_FACTORS.map(requestTimes),
    limitOfP90(),
    ceilingLimit(),
    ...UTILISATION_TARGETS.map(hpa),
    ...USAGE_TARGETS.map(k8sCpu),
    ...USAGE_TARGETS.map(k8sCpuFast),
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
