/**
 * The kubelet's word about a resize, from a pod's conditions.
 *
 * @module
 */
import type { ResizeCondition } from "../../shared/api/pod.ts";
import { listOf, objectOf, present, textOf, wholeOf } from "./json_fields.ts";
import { parseTime } from "./micro_time.ts";

/** The conditions that speak of a resize and are not over. */
export function parseResizeConditions(conditions: unknown): readonly ResizeCondition[] {
  return listOf(conditions).flatMap((raw) => {
    const { type, status, reason, message, observedGeneration } = objectOf(raw);
    if (type !== "PodResizePending" && type !== "PodResizeInProgress") return [];
    if (status === "False") return [];
    return [{
      type,
      reason: textOf(reason) ?? "",
      message: textOf(message) ?? "",
      ...present("observedGeneration", wholeOf(observedGeneration)),
    }];
  });
}

/** True when the condition of this type is "True". */
export function holds(conditions: unknown, type: string): boolean {
  return listOf(conditions).some((raw) => {
    const condition = objectOf(raw);
    return condition.type === type && condition.status === "True";
  });
}

/** Since when the condition of this type is "True", ms since 1970; undefined while it is not. */
export function holdsSince(conditions: unknown, type: string): number | undefined {
  const found = listOf(conditions).map(objectOf).find((one) =>
    one.type === type && one.status === "True"
  );
  return parseTime(found?.lastTransitionTime);
}
