/**
 * The guards of rightsizing: what must hold before a recommendation is applied, in order.
 *
 * @module
 */
import { belowThreshold } from "./change_threshold.ts";
import { coolingDown } from "./cooldown.ts";
import { dryRunHolds } from "./dry_run.ts";
import { samplesLacking } from "./enough_samples.ts";
import type { Guard } from "./guard.ts";
import { horizontalAutoscalerConflicts } from "./horizontal_autoscaler.ts";
import { lastDenialHolds } from "./last_denial.ts";
import { outsideRanges } from "./limit_range.ts";
import { unsafeInForce, unsafeMemoryDecrease } from "./memory_decrease.ts";
import { noMethod, noWayInPlace } from "./method.ts";
import { modeHolds } from "./mode.ts";
import { overNodes } from "./node_capacity.ts";
import { nodeUnderPressure } from "./node_pressure.ts";
import { notRolledOut } from "./not_rolled_out.ts";
import { permissionMissing } from "./permissions.ts";
import { qosWouldChange } from "./qos_class.ts";
import { overQuotas } from "./quota.ts";
import { recentlyEdited } from "./recently_edited.ts";
import { requestAboveLimit } from "./request_above_limit.ts";
import { rolloutHolds } from "./rollout.ts";
import { takenBack } from "./taken_back.ts";
import { boundUnreadable } from "./unreadable_bound.ts";
import { verticalAutoscalerConflicts } from "./vertical_autoscaler.ts";

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
