/**
 * Reports the outcome of a cycle: on the policy, and on its workloads.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import type { Log } from "../../../shared/log.ts";
import {
  buildPolicyStatus,
  type PolicyProblem,
} from "../../../shared/rightsizing/build_policy_status.ts";
import { eventMessage } from "../../../shared/rightsizing/guards/workload_events.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { RightsizingConfig } from "../config.ts";
import { policySubject, writeAnnotations } from "../events.ts";
import type { PolicyStatusWriter, RightsizingEvents, WorkloadWriter } from "../ports.ts";
import type { RecordStore } from "../store.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import type { PublishedVPAs } from "./published_vpas.ts";

/** The problem in the first of the policy's namespaces that has it; undefined where none has. */
export function unwrittenRecord(
  { matched }: Pick<CycleOutcome, "matched">,
  records: Pick<RecordStore, "unwritten">,
): PolicyProblem | undefined {
  const namespaces = new Set(matched.map(({ record }) => record.workload.namespace));
  for (const namespace of namespaces) {
    const why = records.unwritten(namespace);
    if (why === undefined) continue;
    const message = `reports can't be written in namespace ${namespace}: ${why}`;
    return { reason: "RecordNotWritten", message };
  }
  return undefined;
}

/** An outcome, and where it is reported. */
export interface CycleReport {
  readonly outcome: CycleOutcome;
  /** The policy as it is now; undefined where it is gone. */
  readonly present: StoredPolicy | undefined;
  readonly statuses: PolicyStatusWriter;
  readonly events: RightsizingEvents;
  readonly writer: Pick<WorkloadWriter, "annotate">;
  readonly vpas: Pick<PublishedVPAs, "publish">;
  readonly permits: Permits;
  readonly config: Pick<RightsizingConfig, "dryRun" | "annotateWorkloads">;
  readonly clock: Pick<Clock, "wall">;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Writes the status, and then VPAs and annotations, where the policy wants those. Throws what the writer of
 * the status throws, once the rest is written. `policy`: as the cycle had it.
 */
export async function reportCycle(policy: StoredPolicy, report: CycleReport): Promise<void> {
  const { outcome, present, statuses, events, writer, vpas, permits, config, clock, log, signal } =
    report;
  try {
    if (present?.metadata.uid === policy.metadata.uid) {
      emitProblems(present, { outcome, events });
      await writePolicyStatus(present, outcome, {
        statuses,
        nowMs: clock.wall(),
        dryRun: config.dryRun,
        generation: policy.metadata.generation,
      });
    }
  } finally {
    // On shutdown nothing is begun that the next leader writes anyway.
    if (!signal.aborted) {
      await vpas.publish(policy, { reconciled: outcome.reconciled, permits, signal });
    }
    if (config.annotateWorkloads && !signal.aborted) {
      await writeAnnotations(
        outcome.reconciled.map(({ workload, outcome: { record } }) => ({ workload, record })),
        { workloads: writer, permits, log },
      );
    }
  }
}

/** Emits an event for each problem that the status does not have yet. */
function emitProblems(
  policy: StoredPolicy,
  { outcome: { unwritten, lack }, events }: Pick<CycleReport, "events" | "outcome">,
): void {
  const { conditions = [] } = policy.status;
  const about = policySubject(policy);
  if (unwritten !== undefined && !conditions.some(({ reason }) => reason === unwritten.reason)) {
    const message = eventMessage(unwritten.reason, unwritten.message);
    events.emit({ about, type: "Warning", reason: "UpdateFailed", message });
  }
  if (lack !== undefined && !conditions.some(({ message }) => message.includes(lack))) {
    const message = eventMessage("InsufficientSamples", lack);
    events.emit({ about, type: "Warning", reason: "MetricsCollectionFailed", message });
  }
}

/**
 * Writes the outcome to the policy's status. `policy`: as it is now; of another generation than the cycle's
 * nothing is written. Throws what the writer throws.
 */
export async function writePolicyStatus(
  policy: StoredPolicy,
  { unwritten, problem = unwritten, note, lack, matched, aborted }: CycleOutcome,
  { statuses, nowMs, dryRun, generation }: {
    readonly statuses: PolicyStatusWriter;
    readonly nowMs: number;
    readonly dryRun: boolean;
    /** Of the policy in the cycle. */
    readonly generation: number;
  },
): Promise<void> {
  const { metadata, spec, status: before } = policy;
  if (aborted || metadata.generation !== generation) return;
  const isIdle = spec === undefined || spec.mode === "Disabled";
  await statuses.writeStatus(
    policy,
    buildPolicyStatus({
      nowMs,
      generation,
      before,
      dryRun,
      ...(problem === undefined ? {} : { problem }),
      notes: [note, lack].filter((one) => one !== undefined),
      ...(isIdle ? {} : { workloads: matched }),
    }),
  );
}
