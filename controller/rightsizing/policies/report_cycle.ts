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
  samplesNote,
  scopeNote,
} from "../../../shared/rightsizing/build_policy_status.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { isDryRun, policyNamespacesOf, type RightsizingSettings } from "../config.ts";
import { policyWarning, writeAnnotations } from "../events.ts";
import type { RightsizingEvents } from "../ports.ts";
import type { PolicyStatusWriter, WorkloadWriter } from "../../../shared/rightsizing/ports.ts";
import type { RecordStore } from "../store.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import type { PublishedVPAs } from "./published_vpas.ts";

/** The problem of the first namespace with reports that can't be written; undefined where there is none. */
export function unwrittenRecord(
  { matched }: Pick<CycleOutcome, "matched">,
  records: Pick<RecordStore, "unwritten">,
): PolicyProblem | undefined {
  const namespaces = new Set(matched.map(({ workload }) => workload.namespace));
  for (const namespace of namespaces) {
    const why = records.unwritten(namespace);
    if (why === undefined) continue;
    const message = `reports can't be written in namespace ${namespace}: ${why}`;
    return { reason: "RecordNotWritten", message };
  }
  return undefined;
}

/** An outcome, and the receivers of its report. */
export interface CycleReport {
  readonly outcome: CycleOutcome;
  /** The policy as the cache has it now; undefined where it is deleted. */
  readonly present: StoredPolicy | undefined;
  readonly statuses: PolicyStatusWriter;
  readonly events: RightsizingEvents;
  readonly writer: Pick<WorkloadWriter, "annotate">;
  readonly vpas: Pick<PublishedVPAs, "publish">;
  readonly permits: Permits;
  readonly settings: () => RightsizingSettings;
  readonly clock: Pick<Clock, "wall">;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Writes the status, then VPAs and annotations, where they are enabled. Throws an error of the status's writer
 * once these are written. `policy`: the version of the cycle.
 */
export async function reportCycle(policy: StoredPolicy, report: CycleReport): Promise<void> {
  const { outcome: { reconciled }, present, writer, vpas, permits, settings, log, signal } = report;
  try {
    if (present?.metadata.uid === policy.metadata.uid) {
      await reportOnPolicy(policy, { ...report, present });
    }
  } finally {
    // On shutdown, the next leader writes these anyway.
    if (!signal.aborted) await vpas.publish(policy, { reconciled, permits, signal });
    if (settings().annotateWorkloads && !signal.aborted) {
      await writeAnnotations(
        reconciled.map(({ workload, outcome: { record } }) => ({ workload, record })),
        { workloads: writer, permits, log },
      );
    }
  }
}

/** Emits an event for each problem that the status does not have yet, and writes the status. */
async function reportOnPolicy(
  { metadata: { namespace, generation }, spec }: StoredPolicy,
  { present, outcome, statuses, events, settings, clock }: CycleReport & {
    readonly present: StoredPolicy;
  },
): Promise<void> {
  const { unwritten, problem = unwritten, matched, aborted } = outcome;
  const isIdle = spec === undefined || spec.mode === "Disabled";
  const { samplerInterval: intervalMs, samplerSize: size } = settings();
  const lack = isIdle ? undefined : samplesNote(spec, { intervalMs, size });
  const note = isIdle ? undefined : scopeNote(spec.selector, {
    policyNamespace: namespace,
    policyNamespaces: policyNamespacesOf(settings()),
    matched: matched.length,
  });
  const { conditions = [] } = present.status;
  if (unwritten !== undefined && !conditions.some(({ reason }) => reason === unwritten.reason)) {
    events.emit(policyWarning(present, { event: "UpdateFailed", ...unwritten }));
  }
  if (lack !== undefined && !conditions.some(({ message }) => message.includes(lack))) {
    const event = "MetricsCollectionFailed";
    events.emit(policyWarning(present, { event, reason: "InsufficientSamples", message: lack }));
  }
  // Another generation has a cycle of its own.
  if (aborted || present.metadata.generation !== generation) return;
  await statuses.writeStatus(
    present,
    buildPolicyStatus({
      nowMs: clock.wall(),
      generation,
      before: present.status,
      dryRun: isDryRun(settings()),
      ...(problem && { problem }),
      notes: [note, lack].filter((one) => one !== undefined),
      ...(!isIdle && { workloads: matched }),
    }),
  );
}
