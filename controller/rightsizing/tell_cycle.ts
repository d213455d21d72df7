/**
 * Tells what a cycle came to: on the policy, and on its workloads.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { Log } from "../../shared/log.ts";
import type { PolicyProblem } from "../../shared/rightsizing/build_policy_status.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { WorkloadWriter } from "./loop_ports.ts";
import { type CycleOutcome, tellPolicyStatus } from "./policy_cycle.ts";
import type { PolicyStatusWriter } from "./policy_ports.ts";
import type { PublishedVPAs } from "./published_vpas.ts";
import type { RecordBook } from "./record_book.ts";
import type { RightsizingConfig } from "./rightsizing_config.ts";
import { tellAnnotations } from "./told_workloads.ts";

/** What it is told with. */
export interface CycleTale {
  readonly outcome: CycleOutcome;
  /** The policy as it is now; undefined where it is gone. */
  readonly present: StoredPolicy | undefined;
  readonly statuses: PolicyStatusWriter;
  readonly book: Pick<RecordBook, "unwritten">;
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
  const { outcome, present, statuses, book, writer, vpas, permits, config, clock, log, signal } =
    tale;
  try {
    if (present?.metadata.uid === policy.metadata.uid) {
      await tellPolicyStatus(present, { ...unwritten(outcome, book), ...outcome }, {
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

/** A problem of its own stands over this one. */
function unwritten(
  { matched }: CycleOutcome,
  book: CycleTale["book"],
): { readonly problem?: PolicyProblem } {
  const namespaces = new Set(matched.map(({ record }) => record.workload.namespace));
  for (const namespace of namespaces) {
    const why = book.unwritten(namespace);
    if (why === undefined) continue;
    const message = `reports can't be written in namespace ${namespace}: ${why}`;
    return { problem: { reason: "RecordNotWritten", message } };
  }
  return {};
}
