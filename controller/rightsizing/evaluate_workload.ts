/**
 * One look at one workload: ask for its usage, recommend, decide. Nothing is written here.
 *
 * @module
 */
import { NO_RESOURCES } from "../../shared/api/pod.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import {
  type ContainerUsage,
  type UsageSummary,
  usageSummaryOf,
} from "../../shared/rightsizing/distribution.ts";
import {
  decideRightsizing,
  decideWanted,
  type RightsizingDecision,
  STRAGGLER_CHAIN,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  ownContainers,
  type RightsizedWorkload,
  type RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import {
  type ContainerRecommendation,
  type Corrections,
  recommendWorkload,
} from "../../shared/rightsizing/recommend.ts";
import type { UsageAnswer, UsageProblem } from "./ports.ts";
import { type PairEntry, pairOf, pairsOf, wantedOf } from "../../shared/resize/inputs/resources.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";

/** What a look brings to the facts that are gathered elsewhere. */
export type LearnedFacts = Pick<
  RightsizingFacts,
  "recommendations" | "samples" | "memoryPeaks"
>;

/** What the look is made with. */
export interface EvaluationParts {
  readonly policy: PolicySpec;
  readonly workload: RightsizedWorkload;
  /** By container. */
  readonly corrections: ReadonlyMap<string, Corrections>;
  /** Gathers the rest once usage is there, so that it is as young as can be. */
  readonly factsWith: (learned: LearnedFacts) => RightsizingFacts;
}

/** What a look came to. */
export type Evaluation =
  | {
    readonly recommendations: readonly ContainerRecommendation[];
    /** What they were made of. */
    readonly usage: readonly UsageSummary[];
    readonly facts: RightsizingFacts;
    readonly decision: RightsizingDecision;
  }
  | { readonly missing: MissingUsage };

/** Why there is no recommendation. */
export interface MissingUsage {
  readonly reason: Extract<RightsizingReason, "MetricsMissing" | "ProviderUnavailable">;
  readonly message: string;
}

/** A source has seen a pod that it could see Ready for so long, ms: some readings of any of them. */
const SILENCE_MS = 600_000;

/** The decision from what a source has answered. */
export function evaluateWorkload(answer: UsageAnswer, parts: EvaluationParts): Evaluation {
  if ("problem" in answer) return { missing: missingUsage(answer) };
  const { policy, workload, corrections, factsWith } = parts;
  const containers = ownContainers(workload).map(({ name }) => name);
  const usages = [...answer.usage.values()];
  const recommendations = recommendWorkload(containers, { usages, rule: policy, corrections })
    .flatMap(({ recommendation }) => recommendation === undefined ? [] : [recommendation]);
  const facts = factsWith({
    recommendations,
    samples: new Map(containers.map((name) => [name, samplesOf(answer.usage.get(name))])),
    memoryPeaks: new Map(
      usages.flatMap(({ container, memory }) =>
        memory.count === 0 ? [] : [[container, memory.max] as const]
      ),
    ),
  });
  if (usages.every(({ cpu, memory }) => cpu.count === 0 && memory.count === 0)) {
    const missing = silenceAbout(facts, answer);
    if (missing !== undefined) return { missing };
  }
  const usage = usages.map(usageSummaryOf);
  return { recommendations, usage, facts, decision: decideRightsizing(facts) };
}

/** A new workload, and one that nobody runs, has no samples; one that has run for a while should. */
function silenceAbout(
  { pods, nowMs }: RightsizingFacts,
  { watchedSinceMs = -Infinity }: { readonly watchedSinceMs?: number },
): MissingUsage | undefined {
  const old = pods.find(({ readySinceMs = nowMs }) =>
    nowMs - Math.max(readySinceMs, watchedSinceMs) >= SILENCE_MS
  );
  if (old === undefined) return undefined;
  const message = "the source has seen none of its containers within the window, though pod " +
    `${old.metadata.name} has been Ready for ${SILENCE_MS / 60_000} min`;
  return { reason: "MetricsMissing", message };
}

/** Of the resource that has fewer. */
function samplesOf(usage: ContainerUsage | undefined): number {
  return usage === undefined ? 0 : Math.min(usage.cpu.count, usage.memory.count);
}

function missingUsage({ problem, message }: UsageProblem): MissingUsage {
  const reason = problem === "unavailable" || problem === "unreachable"
    ? "ProviderUnavailable"
    : "MetricsMissing";
  return { reason, message };
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
