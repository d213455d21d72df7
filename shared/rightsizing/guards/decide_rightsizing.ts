/**
 * The guards of rightsizing in their order: what must hold before a recommendation is applied, or before pods
 * get what is in force.
 *
 * @module
 */
import { NO_RESOURCES } from "../../api/pod.ts";
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import { type Hold, type Report, runChecks } from "../../resize/run_checks.ts";
import {
  type PairEntry,
  pairOf,
  pairsOf,
  wantedOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { resourcesOfAmounts } from "../workload_record.ts";
import {
  type ApplyMethod,
  type Guard,
  appContainers,
  type RightsizingSnapshot,
} from "./rightsizing_snapshot.ts";
import { unsafeInForce, unsafeMemoryDecrease } from "./memory_decrease.ts";
import { inPlacePlan, methodFor, noMethod, noWayInPlace } from "./method.ts";
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

/** A guard, and where else it is asked. */
export interface GuardRow extends Guard {
  /** The check in its place for pods that are to have the values in force; null: none. */
  readonly inForce?: Guard["check"] | null;
  /** True where it is asked about a pod that is created. */
  readonly newPods?: true;
}

/**
 * Whether there is anything, then what users have set, then what is known, then other controllers, then
 * what bounds the values.
 */
export const RIGHTSIZING_CHAIN: readonly GuardRow[] = [
  { name: "SamplesLacking", check: samplesLacking },
  { name: "ModeHolds", check: modeHolds },
  { name: "DryRunHolds", check: dryRunHolds },
  { name: "PermissionMissing", check: permissionMissing },
  { name: "LastDenialHolds", check: lastDenialHolds },
  { name: "BoundUnreadable", check: boundUnreadable },
  { name: "HorizontalAutoscalerConflicts", check: horizontalAutoscalerConflicts, newPods: true },
  { name: "VerticalAutoscalerConflicts", check: verticalAutoscalerConflicts, newPods: true },
  { name: "RolloutHolds", check: rolloutHolds },
  { name: "OutsideRanges", check: outsideRanges, newPods: true },
  { name: "OverQuotas", check: overQuotas, newPods: true },
  { name: "OverNodes", check: overNodes, newPods: true },
  { name: "QoSWouldChange", check: qosWouldChange, newPods: true },
  { name: "RequestAboveLimit", check: requestAboveLimit, newPods: true },
  { name: "UnsafeMemoryDecrease", check: unsafeMemoryDecrease, inForce: unsafeInForce },
  { name: "NodeUnderPressure", check: nodeUnderPressure },
  { name: "NotRolledOut", check: notRolledOut },
  { name: "BelowThreshold", check: belowThreshold, inForce: null },
  { name: "TakenBack", check: takenBack, inForce: null },
  { name: "RecentlyEdited", check: recentlyEdited, inForce: null },
  { name: "CoolingDown", check: coolingDown, inForce: null },
  { name: "NoMethod", check: noMethod, inForce: null },
];

/**
 * Those about pods that are to have what is in force: where nothing new is decided, neither threshold nor
 * cooldown count, and no pod is recreated.
 */
export const STRAGGLER_CHAIN: readonly Guard[] = [
  ...RIGHTSIZING_CHAIN.flatMap(({ name, check, inForce = check }) =>
    inForce === null ? [] : [{ name, check: inForce }]
  ),
  { name: "NoWayInPlace", check: noWayInPlace },
];

/** Those that apply to a pod before it is created. */
export const NEW_POD_CHAIN: readonly Guard[] = RIGHTSIZING_CHAIN.filter(({ newPods }) => newPods);

/** A cut or note of a guard. */
export type GuardReport = Report<RightsizingReason>;

/** The guards' decision. */
export type RightsizingDecision =
  & {
    /** Cuts and notes on the way, each once. */
    readonly clamps: readonly GuardReport[];
  }
  & (
    | { readonly outcome: "apply"; readonly method: ApplyMethod; readonly wanted: WantedResources }
    | (
      & {
        readonly outcome: "hold";
        readonly retryAfterMs?: number;
        /** True where all is there but a rest that is too small, and what was cut. */
        readonly onlyBelowThreshold?: true;
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
export function decideRightsizing(snapshot: RightsizingSnapshot): RightsizingDecision {
  return decideWanted(snapshot, recommended(snapshot));
}

/** As `decideRightsizing()`, of other values than those recommended, and by a chain of one's own. */
export function decideWanted(
  snapshot: RightsizingSnapshot,
  values: WantedResources,
  { chain = RIGHTSIZING_CHAIN }: {
    /** @default {RIGHTSIZING_CHAIN} */
    readonly chain?: readonly Guard[];
  } = {},
): RightsizingDecision {
  const { wanted, reports: clamps, hold, settled } = runChecks(chain, {
    input: snapshot,
    wanted: values,
    passes: MOST_PASSES,
  });
  if (hold !== undefined) return held(hold, clamps);
  const method = methodFor(snapshot, wanted);
  // The last guard holds where there is none.
  if (settled && method !== undefined) return { outcome: "apply", method, wanted, clamps };
  const last = clamps.at(-1);
  if (last === undefined) throw new RangeError("Cannot decide: no guard holds, and no way is open");
  return { outcome: "hold", ...last, clamps };
}

/** Holds that say that there is nothing new, and nothing against what was decided before. */
const NOTHING_NEW: readonly string[] = [
  "Cooldown",
  "TakenBack",
  "RecentlyEdited",
  "InsufficientSamples",
];

/** Whether the pods are to have what is in force for them, and nothing else. */
export function isNothingNew(
  snapshot: RightsizingSnapshot,
  decision: RightsizingDecision,
): boolean {
  if (decision.outcome === "apply" || snapshot.inForce.size === 0) return false;
  return decision.onlyBelowThreshold === true || NOTHING_NEW.includes(decision.reason);
}

/**
 * The decision about stragglers, once the one about the recommendation has held; undefined where
 * nothing is in force, where the hold concerns these values too, or where no pod differs. Neither
 * threshold nor cooldown count: nothing new is decided. All else does. In place only: a straggler is no
 * reason for a rollout, so where that is not open this is what holds, unless a rollout has brought, or
 * brings, these values anyway.
 */
export function retryResize(
  snapshot: RightsizingSnapshot,
  decision: RightsizingDecision,
): RightsizingDecision | undefined {
  if (!isNothingNew(snapshot, decision)) return undefined;
  const { policy } = snapshot;
  const inPlace = {
    ...snapshot,
    policy: { ...policy, updateStrategy: { ...policy.updateStrategy, allowRecreate: false } },
  };
  const behind = pairsOf(snapshot.inForce)
    .filter((entry) => inPlacePlan(snapshot, wantedOf([entry])).pods.length > 0);
  if (behind.length === 0) return undefined;
  const again = decideWanted(inPlace, wantedOf(behind), { chain: STRAGGLER_CHAIN });
  const isLeft = again.outcome === "hold" && policy.updateStrategy.allowRecreate &&
    behind.every((entry) => isInTemplate(snapshot, entry));
  return isLeft ? undefined : again;
}

/** Then new pods get them from the template. */
function isInTemplate(
  { workload: { template } }: RightsizingSnapshot,
  { container, resource, pair: { request, limit } }: PairEntry,
): boolean {
  const written = pairOf(
    template.containers.find(({ name }) => name === container) ?? NO_RESOURCES,
    resource,
  );
  return (request ?? written.request) === written.request &&
    (limit ?? written.limit) === written.limit;
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
  const reports = yields === true && cut !== undefined
    ? [cut, ...others] as const
    : [report, ...yields === true ? [] : clamps] as const;
  return {
    outcome: "hold",
    ...joinedReport(reports),
    clamps,
    ...(yields === true ? { onlyBelowThreshold: true } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/**
 * The recommendations as wanted values: limits only where the policy updates them, of containers that the
 * template has and that are no sidecars.
 */
function recommended(
  { recommendations, workload, policy: { updateStrategy } }: RightsizingSnapshot,
): WantedResources {
  const own = new Set(appContainers(workload).map(({ name }) => name));
  return new Map(
    recommendations.filter(({ container }) => own.has(container)).map((one) => {
      const { requests, limits } = resourcesOfAmounts(one);
      return [one.container, { requests, limits: updateStrategy.updateRequestsOnly ? {} : limits }];
    }),
  );
}
