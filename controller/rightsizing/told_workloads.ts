/**
 * Tells on workloads and policies what a cycle came to: events, and annotations where those are wanted.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { Log } from "../../shared/log.ts";
import {
  type AnnotationPatch,
  annotationPatch,
  workloadAnnotations,
} from "../../shared/rightsizing/apply/workload_annotations.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { WorkloadEvent } from "../../shared/rightsizing/guards/workload_events.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { EventSubject, RightsizingEvents, WorkloadWriter } from "./loop_ports.ts";
import type { CycleOutcome } from "./policy_cycle.ts";

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
 * Events of a cycle, on workload and policy. The policy hears of each kind once a cycle, with the first
 * workload that it is about and how many there are: a crowd must not fill its stream.
 */
export function tellEvents(
  policy: StoredPolicy,
  { looked, events }: Pick<CycleOutcome, "looked"> & { readonly events: RightsizingEvents },
): void {
  const kinds = new Map<
    string,
    { readonly first: WorkloadEvent; readonly of: string; more: number }
  >();
  for (const { workload, outcome } of looked) {
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

/** What the annotations of a workload are brought to. */
export interface AnnotationWish {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  /** Undefined: nothing is told there any more. */
  readonly record: WorkloadRecord | undefined;
}

/** Who writes annotations. */
export interface AnnotationParts {
  readonly workloads: Pick<WorkloadWriter, "annotate">;
  /** Bounds how many are written at the same time. */
  readonly permits: Permits;
  readonly log: Log;
}

/** Brings annotations to what is wanted. What the server refuses is logged, and tried the next time. */
export async function tellAnnotations(
  wishes: readonly AnnotationWish[],
  { workloads, permits, log }: AnnotationParts,
): Promise<void> {
  async function tell(workload: AnnotationWish["workload"], patch: AnnotationPatch): Promise<void> {
    try {
      await workloads.annotate(workload, patch);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 409) return;
      const { namespace, name } = workload.metadata;
      log.warn("A workload's annotations can't be written", {
        workload: `${workload.kind} ${namespace}/${name}`,
        error: error.message,
      });
    }
  }
  await Promise.all(wishes.map(async ({ workload, record }) => {
    const patch = annotationPatch(workload.metadata.annotations, annotationsOf(record));
    if (patch !== undefined) await permits.run(() => tell(workload, patch));
  }));
}

function annotationsOf(record: WorkloadRecord | undefined): Readonly<Record<string, string>> {
  const { policy, recommendedAtMs, appliedAtMs, recommendations } = record ?? {};
  if (policy === undefined || recommendedAtMs === undefined || recommendations === undefined) {
    return {};
  }
  return workloadAnnotations({
    policy: `${policy.namespace}/${policy.name}`,
    recommendedAtMs,
    ...(appliedAtMs === undefined ? {} : { appliedAtMs }),
    recommendations,
  });
}
