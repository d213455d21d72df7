/**
 * A reference to a workload, as autoscalers have it.
 *
 * @module
 */
import { EVERY_WORKLOAD, type WorkloadRef } from "../../shared/api/workload.ts";
import { objectOf, textOf } from "./json_fields.ts";

/** Kind and name. Throws a `TypeError` that names the field which is not there. */
export function parseWorkloadRef(raw: unknown, field: string): WorkloadRef {
  const { kind, name } = objectOf(raw);
  const ref = { kind: textOf(kind), name: textOf(name) };
  for (const [member, value] of Object.entries(ref)) {
    if (value === undefined) throw new TypeError(`Cannot read the object: no ${field}.${member}`);
  }
  return ref as WorkloadRef;
}

/** Kind and name; `EVERY_WORKLOAD` where they can't be read: it may be any of them. */
export function workloadRefOrAny(raw: unknown): WorkloadRef {
  const { kind, name } = objectOf(raw);
  const ref = { kind: textOf(kind), name: textOf(name) };
  return ref.kind === undefined || ref.name === undefined ? EVERY_WORKLOAD : ref as WorkloadRef;
}
