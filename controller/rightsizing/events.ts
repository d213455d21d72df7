/**
 * Events on workloads and policies, and annotations of workloads.
 *
 * @module
 */
import {
  annotationPatch,
  workloadAnnotations,
} from "../../shared/rightsizing/workload_annotations.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { Log } from "../../shared/log.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { warning } from "../../shared/rightsizing/guards/workload_events.ts";
import type { Cause } from "../../shared/api/reasons/reasons.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { CycleOutcome } from "./policies/policy_cycle.ts";
import type { RightsizingEvent, RightsizingEvents } from "./ports.ts";
import type { WorkloadWriter } from "../../shared/rightsizing/ports.ts";

/** The workload as an event's subject. */
export function workloadSubject(
  { kind, metadata: { namespace, name, uid } }: Pick<RightsizedWorkload, "kind" | "metadata">,
): RightsizingEvent["about"] {
  return { apiVersion: "apps/v1", kind, namespace, name, uid };
}

/** The policy as an event's subject. */
export function policySubject(
  { metadata: { namespace, name, uid } }: Pick<StoredPolicy, "metadata">,
): RightsizingEvent["about"] {
  return { apiVersion: OPTIPOD_GROUP_VERSION, kind: "OptimizationPolicy", namespace, name, uid };
}

/** A warning on a policy. */
export function policyWarning(
  policy: Pick<StoredPolicy, "metadata">,
  { event, ...cause }: Cause & { readonly event: RightsizingEvent["reason"] },
): RightsizingEvent {
  return { about: policySubject(policy), ...warning(event, cause) };
}

/**
 * Emits the events of a cycle on workloads and policy. The policy gets each reason once a cycle, with the first
 * workload and the number of others, since many workloads would flood its events.
 */
export function emitCycleEvents(
  policy: StoredPolicy,
  { reconciled, events }: Pick<CycleOutcome, "reconciled"> & { readonly events: RightsizingEvents },
): void {
  const all = reconciled.flatMap(({ workload, outcome }) =>
    outcome.events.map((event) => ({ workload, event }))
  );
  for (const { workload, event } of all) {
    events.emit({ about: workloadSubject(workload), ...event });
  }
  const kinds = Map.groupBy(all, ({ event: { type, reason } }) => `${type} ${reason}`);
  for (const [first, ...more] of kinds.values()) {
    if (first === undefined) continue;
    const { workload: { kind, metadata: { namespace, name } }, event } = first;
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    const message = `${kind} ${namespace}/${name}${others}: ${event.message}`;
    events.emit({ about: policySubject(policy), ...event, message });
  }
}

/** Writes annotations that differ. A refused write is logged, and tried the next time. */
export async function writeAnnotations(
  targets: readonly {
    readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
    /** Undefined: the annotations are deleted. */
    readonly record: WorkloadRecord | undefined;
  }[],
  { workloads, permits, log }: {
    readonly workloads: Pick<WorkloadWriter, "annotate">;
    /** Bounds how many are written at the same time. */
    readonly permits: Permits;
    readonly log: Log;
  },
): Promise<void> {
  await Promise.all(targets.map(async ({ workload, record }) => {
    const patch = annotationPatch(workload.metadata.annotations, workloadAnnotations(record));
    if (patch === undefined) return;
    try {
      await permits.run(() => workloads.annotate(workload, patch));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 409) return;
      const { namespace, name } = workload.metadata;
      log.warn("Failed to write annotations", {
        workload: `${workload.kind} ${namespace}/${name}`,
        error: error.message,
      });
    }
  }));
}
