/**
 * The containers of a pod that take part, with the ceilings that follow from their original limits.
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
import { type Overrides, overridesOf, times } from "./overrides.ts";
import { MAX_CPU } from "../../../shared/api/market_keys.ts";

/** A container that has a limit and runs. */
export interface Participant {
  readonly container: PodContainer;
  readonly containerID: string;
  /** The original limit, millicores. */
  readonly own: number;
  /** The ceiling by annotations and burst factor. */
  readonly allowed: Ceiling;
}

/** Input of the participants. */
export interface ParticipantsInput extends BidFacts {
  /** Millicores by container name. */
  readonly originalLimits: ReadonlyMap<string, number>;
  /** Where the namespace says nothing. */
  readonly burstFactor: number;
  /** The least ceiling of a container there, millicores. @default {0} */
  readonly leastCeiling?: number | undefined;
}

/** The participants, the overrides by annotations, and the effects of the rules. */
export function participantsOf(
  input: ParticipantsInput,
): { participants: readonly Participant[]; overrides: Overrides; effects: readonly BidEffect[] } {
  const { pod, namespace, originalLimits, burstFactor: usualFactor, leastCeiling } = input;
  const bare = runningWithLimit(pod, originalLimits);
  const overrides = overridesOf({
    ...{ pod, namespace, burstFactor: usualFactor, leastCeiling },
    originalLimits: bare.map(({ own }) => own),
  });
  const boost = overrides.startupBoost;
  const rules = boost === undefined ? BID_RULES : [...BID_RULES, startupBoost(boost)];
  const effects = rules.flatMap((rule) => rule(input));
  const factor = Math.max(1, ...effects.map((effect) => effect.boost ?? 1));
  const { maxCPU, burstFactor, burstCeilings } = overrides;
  const parts = maxCPU === undefined || bare.length === 0
    ? []
    : splitByRequest(maxCPU, bare.map(({ container }) => container.requests.cpu ?? 0));
  // A higher value in the annotation replaces the burst factor; a lower one bounds it.
  const raises = maxCPU !== undefined && maxCPU > sumCPU(burstCeilings);
  const participants = bare.map((participant, index): Participant => {
    const usual = burstCeilings[index] ?? 0;
    const source = usual > times(participant.own, burstFactor)
      ? `the least ceiling × ${factor}`
      : `original limit × ${burstFactor * factor}`;
    const burst: Ceiling = { ceiling: times(usual, factor), reason: "BurstFactor", source };
    const part = parts[index];
    if (part === undefined) return { ...participant, allowed: burst };
    const asked: Ceiling = { ceiling: times(part, factor), reason: "MaxCPU", source: MAX_CPU };
    return { ...participant, allowed: raises || asked.ceiling < burst.ceiling ? asked : burst };
  });
  return { participants, overrides, effects };
}

function runningWithLimit(
  pod: Pod,
  originalLimits: ReadonlyMap<string, number>,
): readonly Omit<Participant, "allowed">[] {
  return pod.containers.flatMap((container): Omit<Participant, "allowed">[] => {
    const own = originalLimits.get(container.name);
    const { containerID, limits: { cpu: limitCPU } } = container;
    if (own === undefined || containerID === undefined || limitCPU === undefined) return [];
    return [{ container, containerID, own }];
  });
}
