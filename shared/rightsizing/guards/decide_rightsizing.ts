/**
 * The guards of rightsizing in their order, and the decisions by them: about a recommendation, and about pods
 * that lack the values in force.
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
  appContainers,
  type ApplyMethod,
  type Guard,
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

/** A guard, and its part in the other chains. */
export interface GuardRow extends Guard {
  /** The check in {@linkcode STRAGGLER_CHAIN}; null: none. @default {check} */
  readonly inForce?: Guard["check"] | null;
  /** True: part of {@linkcode NEW_POD_CHAIN}. */
  readonly newPods?: true;
}

/**
 * In this order: whether there is a recommendation, users' settings, known refusals, other controllers, bounds of
 * the values, safety, and whether the change is worth it now.
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
 * Guards for pods that lack the values in force. Nothing new is decided, so threshold and cooldown do not count,
 * and no pod is recreated.
 */
export const STRAGGLER_CHAIN: readonly Guard[] = [
  ...RIGHTSIZING_CHAIN.flatMap(({ name, check, inForce = check }) =>
    inForce === null ? [] : [{ name, check: inForce }]
  ),
  { name: "NoWayInPlace", check: noWayInPlace },
];

/** Guards for a pod that is being created. */
export const NEW_POD_CHAIN: readonly Guard[] = RIGHTSIZING_CHAIN.filter(({ newPods }) => newPods);

/** A cut or note of a guard. */
export type GuardReport = Report<RightsizingReason>;

/** A decision to apply values. */
export interface ApplyDecision {
  readonly outcome: "apply";
  readonly method: ApplyMethod;
  readonly wanted: WantedResources;
  /** Clamps and notes, each once. */
  readonly clamps: readonly GuardReport[];
}

/** A decision to apply nothing now. */
export interface HoldDecision extends GuardReport {
  readonly outcome: "hold";
  readonly retryAfterMs?: number;
  /** True where the changes that are left after clamps are below the threshold. */
  readonly onlyBelowThreshold?: true;
  readonly clamps: readonly GuardReport[];
}

/** The guards' decision. */
export type RightsizingDecision = ApplyDecision | HoldDecision;

/**
 * Clamps only leave values out, or move them towards the present ones, and values that two guards keep changing
 * are left out: a few passes are enough. The bound is for cases that nothing foresees.
 */
export const MOST_PASSES = 10;

/** Asks every guard in order, and all again where one has clamped. */
export function decideRightsizing(snapshot: RightsizingSnapshot): RightsizingDecision {
  return decideWanted(snapshot, recommended(snapshot));
}

/** As `decideRightsizing()`, for these values and by this chain. */
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
  if (hold !== undefined) return holdDecision(hold, clamps);
  const method = methodFor(snapshot, wanted);
  // Without a method the last guard has held.
  if (settled && method !== undefined) return { outcome: "apply", method, wanted, clamps };
  const last = clamps.at(-1);
  if (last === undefined) throw new RangeError("Cannot decide: no guard holds, and no way is open");
  return { outcome: "hold", ...last, clamps };
}

/** Holds that object to a new decision now, and not to the values of the last one. */
const NOTHING_NEW: readonly string[] = [
  "Cooldown",
  "TakenBack",
  "RecentlyEdited",
  "InsufficientSamples",
];

/** True where nothing new is applied, and pods that lack the values in force should get them. */
export function isNothingNew(
  snapshot: RightsizingSnapshot,
  decision: RightsizingDecision,
): boolean {
  if (decision.outcome === "apply" || snapshot.inForce.size === 0) return false;
  return decision.onlyBelowThreshold === true || NOTHING_NEW.includes(decision.reason);
}

/**
 * The decision about pods that lack the values in force, once the decision about the recommendation has held.
 * Undefined where no values are in force, where the hold concerns these too, or where no pod lacks them. In place
 * only, as such a pod does not justify a rollout. Where that is not possible, the decision is a hold; undefined
 * if the template has these values, as its rollout brings them.
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
  const lacking = pairsOf(snapshot.inForce)
    .filter((entry) => inPlacePlan(snapshot, wantedOf([entry])).pods.length > 0);
  if (lacking.length === 0) return undefined;
  const again = decideWanted(inPlace, wantedOf(lacking), { chain: STRAGGLER_CHAIN });
  const isRolledOut = again.outcome === "hold" && policy.updateStrategy.allowRecreate &&
    lacking.every((entry) => isInTemplate(snapshot, entry));
  return isRolledOut ? undefined : again;
}

/** True where new pods get these values from the template. */
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
 * Joins reports: the reason of the first, and the messages of all; another reason precedes its message:
 * `HPA web divides …; UnsafeMemoryDecrease: app to 32Mi …`.
 */
export function joinedReport<W extends Pick<GuardReport, "reason" | "message">>(
  [first, ...others]: readonly [W, ...W[]],
): W {
  const sentences = others
    .filter(({ reason, message }) => reason !== first.reason || message !== first.message)
    .map(({ reason, message }) => reason === first.reason ? message : `${reason}: ${message}`);
  return { ...first, message: [first.message, ...new Set(sentences)].join("; ") };
}

/** The decision of a hold. Where clamps have left only changes below the threshold, the first clamp is the reason. */
function holdDecision(
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
  const names = new Set(appContainers(workload).map(({ name }) => name));
  return new Map(
    recommendations.filter(({ container }) => names.has(container)).map((one) => {
      const { requests, limits } = resourcesOfAmounts(one);
      return [one.container, { requests, limits: updateStrategy.updateRequestsOnly ? {} : limits }];
    }),
  );
}
