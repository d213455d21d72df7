/**
 * The guards of rightsizing in their order: what must hold before a recommendation is applied.
 *
 * @module
 */
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import {
  pair,
  type PairEntry,
  pairsOf,
  wantedOf,
  type WantedResources,
} from "../../resize/resources.ts";
import { ownContainers } from "../rightsized_workload.ts";
import type { Guard, GuardVerdict } from "./guard.ts";
import { unsafeInForce, unsafeMemoryDecrease } from "./memory_decrease.ts";
import { methodFor, noMethod, noWayInPlace } from "./method.ts";
import { belowThreshold, coolingDown, recentlyEdited } from "./pace_guards.ts";
import {
  boundUnreadable,
  dryRunHolds,
  lastDenialHolds,
  modeHolds,
  permissionMissing,
  samplesLacking,
} from "./policy_guards.ts";
import {
  horizontalAutoscalerConflicts,
  nodeUnderPressure,
  outsideRanges,
  overNodes,
  overQuotas,
  qosWouldChange,
  requestAboveLimit,
  verticalAutoscalerConflicts,
} from "./resize_guards.ts";
import type { ApplyMethod, RightsizingFacts } from "./rightsizing_facts.ts";
import { notRolledOut, rolloutHolds, takenBack } from "./rollout_guards.ts";

/** Whether there is anything, then what people have said, then what is known, then other controllers, then what values allow. */
export const RIGHTSIZING_CHAIN: readonly Guard[] = [
  { name: "SamplesLacking", guard: samplesLacking },
  { name: "ModeHolds", guard: modeHolds },
  { name: "DryRunHolds", guard: dryRunHolds },
  { name: "PermissionMissing", guard: permissionMissing },
  { name: "LastDenialHolds", guard: lastDenialHolds },
  { name: "BoundUnreadable", guard: boundUnreadable },
  { name: "HorizontalAutoscalerConflicts", guard: horizontalAutoscalerConflicts },
  { name: "VerticalAutoscalerConflicts", guard: verticalAutoscalerConflicts },
  { name: "RolloutHolds", guard: rolloutHolds },
  { name: "OutsideRanges", guard: outsideRanges },
  { name: "OverQuotas", guard: overQuotas },
  { name: "OverNodes", guard: overNodes },
  { name: "QoSWouldChange", guard: qosWouldChange },
  { name: "RequestAboveLimit", guard: requestAboveLimit },
  { name: "UnsafeMemoryDecrease", guard: unsafeMemoryDecrease },
  { name: "NodeUnderPressure", guard: nodeUnderPressure },
  { name: "TakenBack", guard: takenBack },
  { name: "NotRolledOut", guard: notRolledOut },
  { name: "BelowThreshold", guard: belowThreshold },
  { name: "RecentlyEdited", guard: recentlyEdited },
  { name: "CoolingDown", guard: coolingDown },
  { name: "NoMethod", guard: noMethod },
];

const PACE: readonly Guard["guard"][] = [belowThreshold, recentlyEdited, coolingDown];

/**
 * Those about pods that are to have what is in force: where nothing new is decided, no pace counts, and
 * nobody is recreated.
 */
export const STRAGGLER_CHAIN: readonly Guard[] = [
  ...RIGHTSIZING_CHAIN.filter(({ guard }) => !PACE.includes(guard) && guard !== noMethod)
    .map((one) => one.guard === unsafeMemoryDecrease ? { ...one, guard: unsafeInForce } : one),
  { name: "NoWayInPlace", guard: noWayInPlace },
];

/** What a guard has cut, or told. */
export interface GuardWord {
  /** Name of the guard. */
  readonly by: string;
  readonly reason: RightsizingReason;
  readonly message: string;
}

/** What the guards came to. */
export type RightsizingDecision =
  & {
    /** What was cut and told on the way, each word once. */
    readonly clamps: readonly GuardWord[];
  }
  & (
    | { readonly outcome: "apply"; readonly method: ApplyMethod; readonly wanted: WantedResources }
    | (
      & {
        readonly outcome: "hold";
        readonly retryAfterMs?: number;
        /** True where all is there but a rest that is too small, and what was cut. */
        readonly restOnly?: true;
      }
      & GuardWord
    )
  );

/**
 * Clamps only take out, or move towards what is there, and what two guards pull to and fro is left out: a
 * few passes are enough. The bound is for what nobody has thought of.
 */
const MOST_PASSES = 10;

/**
 * Asks every guard in order. The first hold ends it; a clamp changes what is wanted and goes on. Where
 * one has clamped, all are asked again: a guard far down may have taken out what one before it had
 * counted on, as a decrease that made room in a quota.
 */
export function decideRightsizing(facts: RightsizingFacts): RightsizingDecision {
  return decideWanted(facts, recommended(facts));
}

/** As `decideRightsizing()`, of other values than those recommended, and by a chain of one's own. */
export function decideWanted(
  facts: RightsizingFacts,
  values: WantedResources,
  { chain = RIGHTSIZING_CHAIN }: {
    /** @default {RIGHTSIZING_CHAIN} */
    readonly chain?: readonly Guard[];
  } = {},
): RightsizingDecision {
  const clamps: GuardWord[] = [];
  let wanted = values;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    let changed = false;
    for (const { name: by, guard } of chain) {
      const verdict = guard(facts, wanted);
      if (verdict === undefined) continue;
      if (verdict.verdict === "hold") return held({ by, verdict, clamps });
      const { reason, message } = verdict;
      const isAgain = clamps.some((one) => one.by === by && one.message === message);
      if (verdict.verdict === "clamp") {
        const rest = isAgain ? unmoved(wanted, verdict.wanted) : verdict.wanted;
        if (rest.size === 0) return held({ by, verdict: { ...verdict, verdict: "hold" }, clamps });
        wanted = rest;
        changed = true;
      }
      if (!isAgain) clamps.push({ by, reason, message });
    }
    if (changed) continue;
    const method = methodFor(facts, wanted);
    // The last guard holds where there is none.
    if (method === undefined) break;
    return { outcome: "apply", method, wanted, clamps };
  }
  const last = clamps.at(-1);
  if (last === undefined) throw new RangeError("Cannot decide: no guard holds, and no way is open");
  return { outcome: "hold", ...last, clamps };
}

/** The pairs that are the same before and after. */
function unmoved(before: WantedResources, after: WantedResources): WantedResources {
  return wantedOf(
    pairsOf(before).filter(({ container, resource, pair: { request, limit } }) => {
      const now = after.get(container)?.[resource];
      return now?.request === request && now?.limit === limit;
    }),
  );
}

/**
 * Several words as one: the first one's reason, and the sentences of all, the others' behind their
 * reasons: `HPA web divides …; UnsafeMemoryDecrease: app to 32Mi …`.
 */
export function toldTogether<W extends Pick<GuardWord, "reason" | "message">>(
  [first, ...others]: readonly [W, ...W[]],
): W {
  const sentences = others
    .filter(({ reason, message }) => reason !== first.reason || message !== first.message)
    .map(({ reason, message }) => reason === first.reason ? message : `${reason}: ${message}`);
  return { ...first, message: [first.message, ...new Set(sentences)].join("; ") };
}

interface Held {
  readonly by: string;
  readonly verdict: Extract<GuardVerdict, { verdict: "hold" }>;
  readonly clamps: readonly GuardWord[];
}

/** Where only a rest too small to matter is left, what has cut the most of it is the reason. */
function held({ by, verdict, clamps }: Held): RightsizingDecision {
  const { reason, message, retryAfterMs, yields = false } = verdict;
  const cuts = clamps.filter((one) => one.reason !== reason);
  const [cut, ...others] = cuts;
  if (yields) {
    const word = cut === undefined ? { by, reason, message } : toldTogether([cut, ...others]);
    return { outcome: "hold", ...word, restOnly: true, clamps };
  }
  const hold = {
    outcome: "hold",
    ...toldTogether([{ by, reason, message }, ...clamps]),
    clamps,
  } as const;
  return retryAfterMs === undefined ? hold : { ...hold, retryAfterMs };
}

/**
 * The recommendations as wanted values: limits only where the policy updates them, containers that the
 * template has and that are no sidecars, each once.
 */
function recommended(
  { recommendations, workload, policy }: RightsizingFacts,
): WantedResources {
  const { updateRequestsOnly } = policy.updateStrategy;
  const own = new Set(ownContainers(workload).map(({ name }) => name));
  return wantedOf(recommendations.flatMap((one): PairEntry[] => {
    const { container, cpu, memory, cpuLimit, memoryLimit } = one;
    if (!own.has(container)) return [];
    return [
      { container, resource: "cpu", pair: pair(cpu, updateRequestsOnly ? undefined : cpuLimit) },
      {
        container,
        resource: "memory",
        pair: pair(memory, updateRequestsOnly ? undefined : memoryLimit),
      },
    ];
  }));
}
