/**
 * The wait for the caches that policies' workloads are found in, and what is reported where it lasts.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import type { Log } from "../../../shared/log.ts";
import {
  buildPolicyStatus,
  type PolicyProblem,
} from "../../../shared/rightsizing/build_policy_status.ts";
import { eventMessage } from "../../../shared/rightsizing/guards/workload_events.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { RightsizingConfig } from "../config.ts";
import { policySubject } from "../events.ts";
import type { PolicyStatusWriter, RightsizingEvents } from "../ports.ts";

/** Between two reports, ms: a server that is busy, or starts, has answered by then. */
const REPORT_MS = 30_000;

/** A copy, or several as one. */
export interface Synced {
  /** True once it is there; false where `signal` was aborted before. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
}

/** What is waited for, and where a long wait is reported. */
export interface DiscoveryParts {
  readonly policies: Pick<Informer<StoredPolicy>, "all" | "whenSynced">;
  /** By a name for people. */
  readonly copies: Readonly<Record<string, Synced>>;
  readonly statuses: PolicyStatusWriter;
  readonly events: RightsizingEvents;
  readonly config: Pick<RightsizingConfig, "dryRun">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * True once all caches are there; false where `signal` was aborted before. After half a minute the missing
 * ones are reported on each policy that is enabled, once for each of its generations.
 */
export async function awaitDiscovery(
  parts: DiscoveryParts,
  signal: AbortSignal,
): Promise<boolean> {
  const missing = new Set(["policies", ...Object.keys(parts.copies)]);
  const isSynced = async ([name, copy]: readonly [string, Synced]): Promise<boolean> => {
    const found = await copy.whenSynced(signal);
    if (found) missing.delete(name);
    return found;
  };
  const all = { policies: parts.policies, ...parts.copies };
  const over = new AbortController();
  const [synced] = await Promise.all([
    Promise.all(Object.entries(all).map(isSynced)).finally(() => over.abort()),
    reportMissing(parts, { missing, signal: AbortSignal.any([signal, over.signal]) }),
  ]);
  return synced.every((one) => one);
}

async function reportMissing(
  parts: DiscoveryParts,
  { missing, signal }: { readonly missing: ReadonlySet<string>; readonly signal: AbortSignal },
): Promise<void> {
  const { policies, clock, log } = parts;
  const reported = new Set<string>();
  for (let waitedMs = REPORT_MS;; waitedMs += REPORT_MS) {
    await clock.sleep(REPORT_MS, signal);
    if (signal.aborted) return;
    const what = [...missing].toSorted().join(", ");
    if (waitedMs === REPORT_MS) {
      log.warn("Caches are still missing: no workload is reconciled", { what });
    }
    const message = `the API server has not listed ${what} for ${waitedMs / 1000} s`;
    for (const policy of policies.all()) {
      if (signal.aborted) return;
      if (policy.spec === undefined || policy.spec.mode === "Disabled") continue;
      const version = `${policy.metadata.uid} ${policy.metadata.generation}`;
      if (reported.has(version)) continue;
      reported.add(version);
      await reportOnPolicy(policy, { reason: "DiscoveryFailed", message }, parts);
    }
  }
}

async function reportOnPolicy(
  policy: StoredPolicy,
  problem: PolicyProblem & { readonly reason: "DiscoveryFailed" },
  { statuses, events, config, clock, log }: DiscoveryParts,
): Promise<void> {
  const { reason } = problem;
  const message = eventMessage(reason, problem.message);
  events.emit({ about: policySubject(policy), type: "Warning", reason, message });
  const status = buildPolicyStatus({
    nowMs: clock.wall(),
    generation: policy.metadata.generation,
    before: policy.status,
    dryRun: config.dryRun,
    problem,
  });
  try {
    await statuses.writeStatus(policy, status);
  } catch (error) {
    log.warn("Failed to write policy status", { error: String(error) });
  }
}
