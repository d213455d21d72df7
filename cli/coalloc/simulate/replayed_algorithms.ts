/**
 * The algorithms that a history is replayed under: the limit as it is, what people do about it, and
 * ours.
 *
 * @module
 */
import { AS_IT_IS, type Entry, isSameEntry, OURS, OURS_TIGHT } from "../../../lab/arena/outcome.ts";
import { rivalsNamed } from "../../../lab/simulation/rivals/all_rivals.ts";
import {
  LIMIT_FACTORS,
  limitOfP90,
  requestTimes,
} from "../../../lab/simulation/rivals/static_limit.ts";

/** An algorithm that a history is replayed under. */
export interface ReplayedAlgorithm extends Entry {
  /** A sentence for the reader: what it does. */
  readonly description: string;
}

/** The limit that knows the load beforehand. */
export const P90: Entry = limitOfP90();

/** As text: `ours`, `ours, tight`, `vpa: limit by ratio, at 10 %`. */
export function algorithmLabel(entry: Entry): string {
  if (isSameEntry(entry, OURS)) return "ours";
  if (isSameEntry(entry, OURS_TIGHT)) return "ours, tight";
  return `${entry.algorithm}: ${entry.setting}`;
}

/** All of them, ours first. */
export function replayedAlgorithms(): readonly ReplayedAlgorithm[] {
  return [
    described(
      OURS,
      "CoAllocator's agent and controller set the limit: its ceiling while CPU is free",
    ),
    described(
      OURS_TIGHT,
      "the same with market.idleCPU: tight, so that the limit follows demand",
    ),
    described(AS_IT_IS, "the container's original limit, never changed"),
    ...LIMIT_FACTORS.map((factor) =>
      described(requestTimes(factor), "the request times a factor, never changed")
    ),
    described(
      P90,
      "the 90th percentile of the whole load with a margin, which is unknown beforehand",
    ),
    ...rivalsNamed(["vpa"]).map((rival) =>
      described(rival, "the Vertical Pod Autoscaler's rules, resizing in place")
    ),
  ];
}

function described({ algorithm, setting }: Entry, description: string): ReplayedAlgorithm {
  return { algorithm, setting, description };
}
