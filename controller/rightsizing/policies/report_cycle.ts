/**
 * Reports the outcome of a cycle: on the policy, and on its workloads.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import type { Log } from "../../../shared/log.ts";
import type { PolicyProblem } from "../../../shared/rightsizing/build_policy_status.ts";
import { eventMessage } from "../../../shared/rightsizing/guards/workload_events.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { RightsizingConfig } from "../config.ts";
import { policySubject, tellAnnotations } from "../events.ts";
import type { PolicyStatusWriter, RightsizingEvents, WorkloadWriter } from "../ports.ts";
import type { RecordBook } from "../store.ts";
import { type CycleOutcome, tellPolicyStatus } from "./policy_cycle.ts";
import type { PublishedVPAs } from "./published_vpas.ts";

/** The problem in the first of the policy's namespaces that has it; undefined where none has. */
export function unwrittenRecord(
  { matched }: Pick<CycleOutcome, "matched">,
  book: Pick<RecordBook, "unwritten">,
): PolicyProblem | undefined {
  const namespaces = new Set(matched.map(({ record }) => record.workload.namespace));
  for (const namespace of namespaces) {
    const why = book.unwritten(namespace);
    if (why === undefined) continue;
    const message = `reports can't be written in namespace ${namespace}: ${why}`;
    return { reason: "RecordNotWritten", message };
  }
  return undefined;
}

/** What it is told with. */
export interface CycleTale {
  readonly outcome: CycleOutcome;
  /** The policy as it is now; undefined where it is gone. */
  readonly present: StoredPolicy | undefined;
  readonly statuses: PolicyStatusWriter;
  readonly events: RightsizingEvents;
  readonly writer: Pick<WorkloadWriter, "annotate">;
  readonly vpas: Pick<PublishedVPAs, "tell">;
  readonly permits: Permits;
  readonly config: Pick<RightsizingConfig, "dryRun" | "annotateWorkloads">;
  readonly clock: Pick<Clock, "wall">;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * The status, and then VPAs and annotations, where those are wanted: nobody waits for a thousand of them.
 * What the writer of the status throws comes through, once all else is told. `policy`: as it was looked
 * at.
 */
export async function tellCycle(policy: StoredPolicy, tale: CycleTale): Promise<void> {
  const { outcome, present, statuses, events, writer, vpas, permits, config, clock, log, signal } =
    tale;
  try {
    if (present?.metadata.uid === policy.metadata.uid) {
      tellProblems(present, { outcome, events });
      await tellPolicyStatus(present, outcome, {
        statuses,
        nowMs: clock.wall(),
        dryRun: config.dryRun,
        generation: policy.metadata.generation,
      });
    }
  } finally {
    // Who ends waits for what has begun, not for words that the next one writes anyway.
    if (!signal.aborted) await vpas.tell(policy, { looked: outcome.looked, permits, signal });
    if (config.annotateWorkloads && !signal.aborted) {
      await tellAnnotations(
        outcome.looked.map(({ workload, outcome: { record } }) => ({ workload, record })),
        { workloads: writer, permits, log },
      );
    }
  }
}

/** Once, when the status does not have it yet: it is told of the policy, as the status is. */
function tellProblems(
  policy: StoredPolicy,
  { outcome: { unwritten, lack }, events }: Pick<CycleTale, "events" | "outcome">,
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
