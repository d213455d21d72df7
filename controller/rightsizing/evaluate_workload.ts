/**
 * Recommends for a workload from its usage, and decides about pods that lack values in force.
 *
 * @module
 */
import { NO_RESOURCES } from "../../shared/api/pod.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { type UsageSummary, usageSummaryOf } from "../../shared/rightsizing/distribution.ts";
import {
  decideWanted,
  type RightsizingDecision,
  STRAGGLER_CHAIN,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  ownContainers,
  type RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { type Corrections, recommendWorkload } from "../../shared/rightsizing/recommend.ts";
import type { UsageAnswer } from "./ports.ts";
import { type PairEntry, pairOf, pairsOf, wantedOf } from "../../shared/resize/inputs/resources.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";

/** What usage recommends, and the figures of it that are reported. */
export interface LearnedFacts
  extends Pick<RightsizingFacts, "recommendations" | "samples" | "memoryPeaks"> {
  readonly usage: readonly UsageSummary[];
}

/** A decision with the facts and the usage behind it. */
export interface Evaluation {
  readonly facts: RightsizingFacts;
  readonly decision: RightsizingDecision;
  readonly usage: readonly UsageSummary[];
}

/** Why there is no recommendation. */
export interface MissingUsage {
  readonly reason: Extract<RightsizingReason, "MetricsMissing" | "ProviderUnavailable">;
  readonly message: string;
}

/** A source has seen a pod that it could see Ready for so long, ms: some readings of any of them. */
const SILENCE_MS = 600_000;

/** Recommends by the answer of a source. */
export function learnUsage(
  answer: UsageAnswer,
  { policy, workload, corrections }: Pick<RightsizingFacts, "policy" | "workload"> & {
    /** By container. */
    readonly corrections: ReadonlyMap<string, Corrections>;
  },
): LearnedFacts | MissingUsage {
  if ("problem" in answer) {
    const { problem, message } = answer;
    const isDown = problem === "unavailable" || problem === "unreachable";
    return { reason: isDown ? "ProviderUnavailable" : "MetricsMissing", message };
  }
  const containers = ownContainers(workload).map(({ name }) => name);
  const usages = [...answer.usage.values()];
  return {
    recommendations: recommendWorkload(containers, { usages, rule: policy, corrections }),
    // Of the resource that has fewer.
    samples: new Map(containers.map((name) => {
      const { cpu, memory } = answer.usage.get(name) ?? {};
      return [name, Math.min(cpu?.count ?? 0, memory?.count ?? 0)];
    })),
    memoryPeaks: new Map(
      usages.flatMap(({ container, memory }) =>
        memory.count === 0 ? [] : [[container, memory.max] as const]
      ),
    ),
    usage: usages.map(usageSummaryOf),
  };
}

/**
 * Reports a source without a sample of a workload that has run for a while; a new workload, and one without
 * pods, may have none.
 */
export function silentSource(
  { pods, nowMs }: Pick<RightsizingFacts, "pods" | "nowMs">,
  answer: UsageAnswer,
): MissingUsage | undefined {
  if ("problem" in answer) return undefined;
  const { usage, watchedSinceMs = -Infinity } = answer;
  if ([...usage.values()].some(({ cpu, memory }) => cpu.count + memory.count > 0)) return undefined;
  const old = pods.find(({ readySinceMs = nowMs }) =>
    nowMs - Math.max(readySinceMs, watchedSinceMs) >= SILENCE_MS
  );
  if (old === undefined) return undefined;
  const message = "the source has seen none of its containers within the window, though pod " +
    `${old.metadata.name} has been Ready for ${SILENCE_MS / 60_000} min`;
  return { reason: "MetricsMissing", message };
}

/** Holds that say that there is nothing new, and nothing against what was decided before. */
const NOTHING_NEW: readonly string[] = [
  "Cooldown",
  "TakenBack",
  "RecentlyEdited",
  "InsufficientSamples",
];

/** Whether the pods are to have what is in force for them, and nothing else. */
export function isNothingNew(facts: RightsizingFacts, decision: RightsizingDecision): boolean {
  if (decision.outcome === "apply" || facts.inForce.size === 0) return false;
  return decision.restOnly === true || NOTHING_NEW.includes(decision.reason);
}

/**
 * The decision about stragglers, once the one about the recommendation has held; undefined where
 * nothing is in force, where the hold concerns these values too, or where no pod differs. Neither
 * threshold nor cooldown count: nothing new is decided. All else does. In place only: a straggler is no
 * reason for a rollout, so where that is not open this is what holds, unless a rollout has brought, or
 * brings, these values anyway.
 */
export function retryResize(
  facts: RightsizingFacts,
  decision: RightsizingDecision,
): RightsizingDecision | undefined {
  if (!isNothingNew(facts, decision)) return undefined;
  const { policy } = facts;
  const inPlace = {
    ...facts,
    policy: { ...policy, updateStrategy: { ...policy.updateStrategy, allowRecreate: false } },
  };
  const behind = pairsOf(facts.inForce)
    .filter((entry) => inPlacePlan(facts, wantedOf([entry])).pods.length > 0);
  if (behind.length === 0) return undefined;
  const again = decideWanted(inPlace, wantedOf(behind), { chain: STRAGGLER_CHAIN });
  const isLeft = again.outcome === "hold" && policy.updateStrategy.allowRecreate &&
    behind.every((entry) => isInTemplate(facts, entry));
  return isLeft ? undefined : again;
}

/** Then new pods get them from the template. */
function isInTemplate(
  { workload: { template } }: RightsizingFacts,
  { container, resource, pair: { request, limit } }: PairEntry,
): boolean {
  const written = pairOf(
    template.containers.find(({ name }) => name === container) ?? NO_RESOURCES,
    resource,
  );
  return (request ?? written.request) === written.request &&
    (limit ?? written.limit) === written.limit;
}
