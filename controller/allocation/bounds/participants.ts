/**
 * The containers of a pod that take part, and what they may have by their own limits.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { sumCPU } from "../../../shared/quantity.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";
import type { BidEffect, BidFacts } from "../bid_rules/bid_rule.ts";
import { BID_RULES } from "../bid_rules/bid_rules.ts";
import { startupBoost } from "../bid_rules/startup_boost.ts";
import type { Ceiling } from "./namespace_bounds.ts";
import { MAX_CPU, type Overrides, overridesOf, times } from "./overrides.ts";

/** A container that has a limit and runs. */
export interface Participant {
  readonly container: PodContainer;
  readonly containerID: string;
  /** The user's own limit, millicores. */
  readonly own: number;
  /** What annotations and burst factor allow. */
  readonly allowed: Ceiling;
}

/** What the seats are made from. */
export interface ParticipantsInput extends BidFacts {
  /** Millicores by container name. */
  readonly ownLimits: ReadonlyMap<string, number>;
  /** Where the namespace says nothing. */
  readonly burstFactor: number;
  /** The least ceiling of a container there, millicores. @default {0} */
  readonly leastCeiling?: number | undefined;
}

/** The seats, what annotations say, and what the rules say. */
export function participantsOf(
  input: ParticipantsInput,
): { seats: readonly Participant[]; overrides: Overrides; words: readonly BidEffect[] } {
  const { pod, namespace, ownLimits, burstFactor: usualFactor, leastCeiling } = input;
  const bare = runningWithLimit(pod, ownLimits);
  const overrides = overridesOf({
    ...{ pod, namespace, burstFactor: usualFactor, leastCeiling },
    ownLimits: bare.map(({ own }) => own),
  });
  const boost = overrides.startupBoost;
  const rules = boost === undefined ? BID_RULES : [...BID_RULES, startupBoost(boost)];
  const words = rules.flatMap((rule) => rule(input));
  const factor = Math.max(1, ...words.map((word) => word.boost ?? 1));
  const { maxCPU, burstFactor, burstCeilings } = overrides;
  const parts = maxCPU === undefined || bare.length === 0
    ? []
    : splitByRequest(maxCPU, bare.map(({ container }) => container.requestCPU ?? 0));
  // Where the annotation asks for more it stands instead of the burst factor, otherwise beside it.
  const raises = maxCPU !== undefined && maxCPU > sumCPU(burstCeilings);
  const seats = bare.map((seat, index): Participant => {
    const usual = burstCeilings[index] ?? 0;
    const source = usual > times(seat.own, burstFactor)
      ? `the least ceiling × ${factor}`
      : `own limit × ${burstFactor * factor}`;
    const burst: Ceiling = { ceiling: times(usual, factor), reason: "BurstFactor", source };
    const part = parts[index];
    if (part === undefined) return { ...seat, allowed: burst };
    const asked: Ceiling = { ceiling: times(part, factor), reason: "MaxCPU", source: MAX_CPU };
    return { ...seat, allowed: raises || asked.ceiling < burst.ceiling ? asked : burst };
  });
  return { seats, overrides, words };
}

function runningWithLimit(
  pod: Pod,
  ownLimits: ReadonlyMap<string, number>,
): readonly Omit<Participant, "allowed">[] {
  return pod.containers.flatMap((container): Omit<Participant, "allowed">[] => {
    const own = ownLimits.get(container.name);
    const { containerID, limitCPU } = container;
    if (own === undefined || containerID === undefined || limitCPU === undefined) return [];
    return [{ container, containerID, own }];
  });
}
