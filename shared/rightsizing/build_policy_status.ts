/**
 * The status of a policy, from the outcomes of its workloads.
 *
 * @module
 */
import { faultText, type FieldFault } from "../api/fields.ts";
import type { Condition } from "../api/object.ts";
import { MOST_WORKLOADS, type PolicyStatus } from "../api/policy_status.ts";
import type { WorkloadKind } from "../api/workload.ts";
import type { Cause } from "../api/reasons/reasons.ts";
import type { PolicyReason } from "../api/reasons/rightsizing_reasons.ts";
import { formatDuration } from "../duration.ts";
import { cutToBytes } from "../quoted_text.ts";
import { type PolicyReach, reachesNamespace } from "./policy_match.ts";
import type { PolicySelector, PolicySpec } from "./policy_spec.ts";
import {
  lacksMetrics,
  timeText,
  type WorkloadRecord,
  workloadStatusOf,
} from "./workload_record.ts";

/** Namespaces or workloads that a message names. */
const MOST_NAMED = 5;

/**
 * A sentence where the selector asks for namespaces that the policy may not act on, or where it matches no
 * workload; otherwise undefined. Names only namespaces that the policy names: its user may not know of others.
 */
export function scopeNote(
  { namespaces, namespaceSelector }: PolicySelector,
  { matched, ...reach }: PolicyReach & {
    /** How many workloads it matches. */
    readonly matched: number;
  },
): string | undefined {
  const { policyNamespace: own } = reach;
  const beyond = namespaces?.allow.filter((name) => !reachesNamespace(name, reach)) ?? [];
  const isBound = !reach.policyNamespaces.includes(own);
  const phrases = [
    ...(beyond.length === 0 ? [] : [`its selector asks for ${listNames([...new Set(beyond)])}`]),
    ...(isBound && namespaceSelector !== undefined ? ["it has a namespaceSelector"] : []),
    ...(matched === 0 ? ["it matches no workload"] : []),
  ];
  if (phrases.length === 0) return undefined;
  const only = `; it acts on its own namespace ${own} alone, since the controller's setting ` +
    "policyNamespaces does not have that";
  return `${phrases.join(", ")}${isBound ? only : ""}`;
}

/**
 * A sentence where metrics-server is sampled so seldom that one pod may have fewer samples in the window
 * than `minSamples`: then one cycle has a recommendation and the next has none. Otherwise undefined. One reading
 * may be late, so 5 min, read every 30 s and kept in 16 parts, have 8 samples for sure.
 */
export function samplesNote(
  { provider, windowMs, minSamples }: Pick<PolicySpec, "provider" | "windowMs" | "minSamples">,
  { intervalMs, size }: {
    /** Between two readings, ms. */
    readonly intervalMs: number;
    /** Parts of a window that the history has; the oldest of them may be left out. */
    readonly size: number;
  },
): string | undefined {
  if (provider !== "metrics-server") return undefined;
  const certain = Math.max(0, Math.floor(windowMs * (size - 1) / size / intervalMs) - 1);
  if (certain >= minSamples) return undefined;
  return `its rollingWindow of ${
    formatDuration(windowMs)
  } holds ${certain} samples of one pod for ` +
    `sure, read every ${formatDuration(intervalMs)}, and minSamples is ${minSamples}: a longer ` +
    "window, a smaller minSamples or the controller's setting rightsizing.samplerInterval helps";
}

/** Why a policy can't be followed now. */
export type PolicyProblem = Cause<
  "ValidationFailed" | "ProviderUnavailable" | "DiscoveryFailed" | "RecordNotWritten"
>;

/** One cycle of a policy. */
export interface PolicyCycle {
  readonly nowMs: number;
  /** `metadata.generation` of the policy in the cycle. */
  readonly generation: number;
  /** The status before the cycle, of which the cycle replaces a part. */
  readonly before: PolicyStatus;
  readonly dryRun: boolean;
  /** Absent: it can be followed. */
  readonly problem?: PolicyProblem;
  /** Notes on a valid policy, in sentences; see `scopeNote()`, `samplesNote()`. @default {[]} */
  readonly notes?: readonly string[];
  /**
   * The workloads that it matches, whether it has won them or not. Absent where none was reconciled: the
   * policy is disabled, or there is a problem.
   */
  readonly workloads?: readonly WorkloadRecord[];
}

/**
 * Most bytes of recommendations in a status. A server stores 1.5 MB; a hundred workloads without recommendations
 * take half a MB at most.
 */
const MOST_BYTES = 512 * 1024;
/** Bytes of a condition's message: characters are not more. */
const LONGEST_MESSAGE = 32_768;

const encoder = new TextEncoder();

/** The status after the cycle. A cycle that reconciled no workloads keeps the workloads and counts before it. */
export function buildPolicyStatus(cycle: PolicyCycle): PolicyStatus {
  const { before, workloads, generation, nowMs } = cycle;
  return {
    ...before,
    conditions: conditionsOf(cycle),
    observedGeneration: generation,
    ...(workloads === undefined ? {} : {
      workloadsDiscovered: workloads.length,
      workloadsProcessed: workloads.filter(({ status }) => status !== "Error").length,
      workloadsByType: {
        deployments: countOf(workloads, "Deployment"),
        statefulSets: countOf(workloads, "StatefulSet"),
        daemonSets: countOf(workloads, "DaemonSet"),
      },
      lastReconciliation: timeText(nowMs),
      workloads: worstWorkloads(workloads),
    }),
  };
}

function countOf(workloads: readonly WorkloadRecord[], kind: WorkloadKind): number {
  return workloads.filter(({ workload }) => workload.kind === kind).length;
}

/** The problem of a policy that can't be read. */
export function validationProblem(faults: readonly FieldFault[]): PolicyProblem {
  return { reason: "ValidationFailed", message: faults.map(faultText).join("; ") };
}

/** A condition that is true or false, and why. */
interface Finding {
  readonly type: "Ready" | "MetricsMissing" | "DryRun";
  readonly message: string;
  readonly isTrue: boolean;
  readonly reason: PolicyReason;
}

/** All conditions. A cycle that reconciled no workloads keeps MetricsMissing as it was. */
function conditionsOf(cycle: PolicyCycle): Condition[] {
  const { nowMs, generation, before: { conditions = [] }, workloads, problem, notes = [] } = cycle;
  const known = (type: Finding["type"]) => conditions.find((one) => one.type === type);
  const condition = ({ type, isTrue, reason, message }: Finding): Condition => {
    const status = isTrue ? "True" : "False";
    const old = known(type);
    return {
      type,
      status,
      reason,
      message: cutToBytes(message, LONGEST_MESSAGE),
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : timeText(nowMs),
      observedGeneration: generation,
    };
  };
  return [
    condition({
      type: "Ready",
      isTrue: problem === undefined,
      reason: problem?.reason ?? "PolicyValid",
      message: problem?.message ?? ["each field of the policy is valid", ...notes].join("; "),
    }),
    workloads === undefined ? known("MetricsMissing") : condition(metricsFinding(workloads)),
    condition({
      type: "DryRun",
      isTrue: cycle.dryRun,
      reason: cycle.dryRun ? "DryRun" : "Live",
      message: cycle.dryRun
        ? "the controller's setting dryRun is on: nothing is applied"
        : "the controller's setting dryRun is off",
    }),
  ].filter((one) => one !== undefined);
}

function metricsFinding(workloads: readonly WorkloadRecord[]): Finding {
  const missing = workloads.filter(lacksMetrics).map(nameOf).toSorted();
  const isTrue = missing.length > 0;
  return {
    type: "MetricsMissing",
    isTrue,
    reason: isTrue ? "MetricsMissing" : "MetricsPresent",
    message: isTrue
      ? `${missing.length} of ${workloads.length} workloads: ${listNames(missing)}`
      : "no workload lacks metrics",
  };
}

/** Statuses of the worst workloads, at most a hundred, with recommendations as far as these fit. */
function worstWorkloads(
  workloads: readonly WorkloadRecord[],
): NonNullable<PolicyStatus["workloads"]> {
  let room = MOST_BYTES;
  const sorted = workloads.map((record) => ({ record, difference: largestDifference(record) }))
    .toSorted(worstFirst);
  return sorted.slice(0, MOST_WORKLOADS).map(({ record }) => {
    const status = workloadStatusOf(record);
    const size = encoder.encode(JSON.stringify(status.recommendations)).length;
    const fits = size <= room;
    if (fits) room -= size;
    return fits ? status : { ...status, recommendations: [] };
  });
}

interface ComparedRecord {
  readonly record: WorkloadRecord;
  readonly difference: number;
}

/** Errors first, then skipped workloads; then by the largest difference, then by name. */
function worstFirst(a: ComparedRecord, b: ComparedRecord): number {
  const rank = ({ record: { status } }: ComparedRecord): number =>
    status === "Error" ? 0 : status === "Skipped" ? 1 : 2;
  const difference = a.difference === b.difference ? 0 : b.difference - a.difference;
  return rank(a) - rank(b) || difference || (nameOf(a.record) < nameOf(b.record) ? -1 : 1);
}

/**
 * The largest difference between a request and its recommendation, as a part of the request: 0.5 for 100m and a
 * recommendation of 150m. Requests are the values in force, or the template's where none are. Infinity without a
 * request, 0 without a recommendation.
 */
function largestDifference(
  { recommendations, inForce, template = [] }: WorkloadRecord,
): number {
  return Math.max(
    0,
    ...recommendations.flatMap(({ container, cpu, memory }) => {
      const present = {
        ...template.find((one) => one.container === container),
        ...inForce.find((one) => one.container === container),
      };
      return [difference(present.cpu ?? 0, cpu), difference(present.memory ?? 0, memory)];
    }),
  );
}

function difference(from: number, to: number): number {
  if (from === to) return 0;
  return from === 0 ? Infinity : Math.abs(to - from) / from;
}

function nameOf({ workload }: WorkloadRecord): string {
  return `${workload.namespace}/${workload.kind}/${workload.name}`;
}

function listNames(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
