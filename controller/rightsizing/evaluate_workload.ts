/**
 * One look at one workload: ask for its usage, recommend, decide. Nothing is written here.
 *
 * @module
 */
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { ContainerUsage } from "../../shared/rightsizing/distribution.ts";
import {
  decideRightsizing,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import {
  type ContainerRecommendation,
  type Corrections,
  recommendWorkload,
} from "../../shared/rightsizing/recommend.ts";
import { ownContainers } from "../../shared/rightsizing/rightsized_workload.ts";
import { type UsageSummary, usageSummaryOf } from "../../shared/rightsizing/usage_summary.ts";
import type { UsageAnswer, UsageProblem } from "./ports.ts";

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
