/**
 * The guards of rightsizing in their order: what must hold before a recommendation is applied.
 *
 * @module
 */
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import { type Hold, type Report, runChecks } from "../../resize/run_checks.ts";
import {
  pair,
  type PairEntry,
  wantedOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import {
  type ApplyMethod,
  type Guard,
  ownContainers,
  type RightsizingFacts,
} from "./rightsizing_facts.ts";
import { unsafeInForce, unsafeMemoryDecrease } from "./memory_decrease.ts";
import { methodFor, noMethod, noWayInPlace } from "./method.ts";
import {
  belowThreshold,
  boundUnreadable,
  coolingDown,
  dryRunHolds,
  lastDenialHolds,
  modeHolds,
  notRolledOut,
  permissionMissing,
  rolloutHolds,
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
import { recentlyEdited, takenBack } from "./template_changes.ts";

/**
 * Whether there is anything, then what users have set, then what is known, then other controllers, then
 * what bounds the values.
 */
export const RIGHTSIZING_CHAIN: readonly Guard[] = [
  { name: "SamplesLacking", check: samplesLacking },
  { name: "ModeHolds", check: modeHolds },
  { name: "DryRunHolds", check: dryRunHolds },
  { name: "PermissionMissing", check: permissionMissing },
  { name: "LastDenialHolds", check: lastDenialHolds },
  { name: "BoundUnreadable", check: boundUnreadable },
  { name: "HorizontalAutoscalerConflicts", check: horizontalAutoscalerConflicts },
  { name: "VerticalAutoscalerConflicts", check: verticalAutoscalerConflicts },
  { name: "RolloutHolds", check: rolloutHolds },
  { name: "OutsideRanges", check: outsideRanges },
  { name: "OverQuotas", check: overQuotas },
  { name: "OverNodes", check: overNodes },
  { name: "QoSWouldChange", check: qosWouldChange },
  { name: "RequestAboveLimit", check: requestAboveLimit },
  { name: "UnsafeMemoryDecrease", check: unsafeMemoryDecrease },
  { name: "NodeUnderPressure", check: nodeUnderPressure },
  { name: "NotRolledOut", check: notRolledOut },
  { name: "BelowThreshold", check: belowThreshold },
  { name: "TakenBack", check: takenBack },
  { name: "RecentlyEdited", check: recentlyEdited },
  { name: "CoolingDown", check: coolingDown },
  { name: "NoMethod", check: noMethod },
];

const PACE: readonly Guard["check"][] = [belowThreshold, takenBack, recentlyEdited, coolingDown];

/**
 * Those about pods that are to have what is in force: where nothing new is decided, no pace counts, and
 * no pod is recreated.
 */
export const STRAGGLER_CHAIN: readonly Guard[] = [
  ...RIGHTSIZING_CHAIN.filter(({ check }) => !PACE.includes(check) && check !== noMethod)
    .map((one) => one.check === unsafeMemoryDecrease ? { ...one, check: unsafeInForce } : one),
  { name: "NoWayInPlace", check: noWayInPlace },
];

/** What a guard has cut, or reports. */
export type GuardReport = Report<RightsizingReason>;

/** What the guards came to. */
export type RightsizingDecision =
  & {
    /** What was cut and reported on the way, each once. */
    readonly clamps: readonly GuardReport[];
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
      & GuardReport
    )
  );

/**
 * Clamps only take out, or move towards what is there, and what two guards pull to and fro is left out: a
 * few passes are enough. The bound is for what nothing foresees.
 */
export const MOST_PASSES = 10;

/** Asks every guard in order, and all again where one has clamped. */
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
  const { wanted, reports: clamps, hold, settled } = runChecks(chain, {
    facts,
    wanted: values,
    passes: MOST_PASSES,
  });
  if (hold !== undefined) return held(hold, clamps);
  const method = methodFor(facts, wanted);
  // The last guard holds where there is none.
  if (settled && method !== undefined) return { outcome: "apply", method, wanted, clamps };
  const last = clamps.at(-1);
  if (last === undefined) throw new RangeError("Cannot decide: no guard holds, and no way is open");
  return { outcome: "hold", ...last, clamps };
}

/**
 * Several reports as one: the first one's reason, and the sentences of all, the others' behind their
 * reasons: `HPA web divides …; UnsafeMemoryDecrease: app to 32Mi …`.
 */
export function joinedReport<W extends Pick<GuardReport, "reason" | "message">>(
  [first, ...others]: readonly [W, ...W[]],
): W {
  const sentences = others
    .filter(({ reason, message }) => reason !== first.reason || message !== first.message)
    .map(({ reason, message }) => reason === first.reason ? message : `${reason}: ${message}`);
  return { ...first, message: [first.message, ...new Set(sentences)].join("; ") };
}

/** Where only a rest too small to matter is left, what has cut the most of it is the reason. */
function held(
  { yields, retryAfterMs, ...report }: Hold<RightsizingReason>,
  clamps: readonly GuardReport[],
): RightsizingDecision {
  const [cut, ...others] = clamps.filter(({ reason }) => reason !== report.reason);
  if (yields === true) {
    const joined = cut === undefined ? report : joinedReport([cut, ...others]);
    return { outcome: "hold", ...joined, restOnly: true, clamps };
  }
  return {
    outcome: "hold",
    ...joinedReport([report, ...clamps]),
    clamps,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
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
