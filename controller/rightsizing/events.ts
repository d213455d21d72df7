/**
 * Events on workloads and policies, and annotations of workloads.
 *
 * @module
 */
import {
  type AnnotationPatch,
  annotationPatch,
  workloadAnnotations,
} from "../../shared/rightsizing/workload_annotations.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { Log } from "../../shared/log.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { WorkloadEvent } from "../../shared/rightsizing/guards/workload_events.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { CycleOutcome } from "./policies/policy_cycle.ts";
import type { EventSubject, RightsizingEvents, WorkloadWriter } from "./ports.ts";

/** An event's subject. */
export function workloadSubject(
  { kind, metadata: { namespace, name, uid } }: Pick<RightsizedWorkload, "kind" | "metadata">,
): EventSubject {
  return { apiVersion: "apps/v1", kind, namespace, name, uid };
}

/** An event's subject. */
export function policySubject(
  { metadata: { namespace, name, uid } }: Pick<StoredPolicy, "metadata">,
): EventSubject {
  return { apiVersion: OPTIPOD_GROUP_VERSION, kind: "OptimizationPolicy", namespace, name, uid };
}

/**
 * Emits events of a cycle, on workload and policy. The policy gets each kind once a cycle, with the first
 * workload that it is about and how many there are: a crowd must not fill its stream.
 */
export function emitCycleEvents(
  policy: StoredPolicy,
  { reconciled, events }: Pick<CycleOutcome, "reconciled"> & { readonly events: RightsizingEvents },
): void {
  const kinds = new Map<
    string,
    { readonly first: WorkloadEvent; readonly of: string; more: number }
  >();
  for (const { workload, outcome } of reconciled) {
    for (const event of outcome.events) {
      events.emit({ about: workloadSubject(workload), ...event });
      const kind = `${event.type} ${event.reason}`;
      const known = kinds.get(kind);
      const { namespace, name } = workload.metadata;
      if (known === undefined) {
        kinds.set(kind, { first: event, of: `${workload.kind} ${namespace}/${name}`, more: 0 });
      } else known.more++;
    }
  }
  for (const { first, of, more } of kinds.values()) {
    const others = more === 0 ? "" : ` (and ${more} more)`;
    events.emit({
      about: policySubject(policy),
      ...first,
      message: `${of}${others}: ${first.message}`,
    });
  }
}

/** A workload and what its annotations are made of. */
export interface AnnotationTarget {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  /** Undefined: the annotations are deleted. */
  readonly record: WorkloadRecord | undefined;
}

/** What annotations are written with. */
export interface AnnotationParts {
  readonly workloads: Pick<WorkloadWriter, "annotate">;
  /** Bounds how many are written at the same time. */
  readonly permits: Permits;
  readonly log: Log;
}

/** Writes annotations that differ. What the server refuses is logged, and tried the next time. */
export async function writeAnnotations(
  targets: readonly AnnotationTarget[],
  { workloads, permits, log }: AnnotationParts,
): Promise<void> {
  async function write(
    workload: AnnotationTarget["workload"],
    patch: AnnotationPatch,
  ): Promise<void> {
    try {
      await workloads.annotate(workload, patch);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 409) return;
      const { namespace, name } = workload.metadata;
      log.warn("Failed to write annotations", {
        workload: `${workload.kind} ${namespace}/${name}`,
        error: error.message,
      });
    }
  }
  await Promise.all(targets.map(async ({ workload, record }) => {
    const patch = annotationPatch(workload.metadata.annotations, workloadAnnotations(record));
    if (patch !== undefined) await permits.run(() => write(workload, patch));
  }));
}
