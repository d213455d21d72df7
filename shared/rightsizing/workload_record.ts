/**
 * What is known of a workload after a cycle, and how it is written: to the status of its policy, and to
 * the report of its namespace, from which it is read again.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import type { ContainerAdvice, WorkloadStatus } from "../api/policy_status.ts";
import type {
  ReportedUsage,
  ReportedWorkload,
  UsageFigures,
  WrittenInForce,
} from "../api/recommendation_report.ts";
import type { WorkloadKind } from "../api/workload.ts";
import { cutToBytes } from "../cut_to_bytes.ts";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import type { ResourcePair } from "../resize/inputs/resources.ts";
import type { ContainerRecommendation } from "./recommendation.ts";
import { templateOf, writtenTemplate } from "./recorded_template.ts";
import { amountsOf, millisecondsOf, timeText, writtenAmounts } from "./recorded_values.ts";
import type { DistributionSummary, UsageSummary } from "./usage_summary.ts";

/** Bytes of a sentence; the schema counts characters, which are not more. */
const MOST_BYTES = 4096;

/** Requests and limits of a container: millicores and bytes. */
export type ContainerAmounts = Partial<Omit<ContainerRecommendation, "container" | "explanation">>;

/** Values of a container that were adopted. Absent: left as it was. */
export type ValuesInForce =
  & Pick<ContainerRecommendation, "container">
  & ContainerAmounts
  & {
    /** What the template said of the container then; absent in records of older versions. */
    readonly adoptedOn?: ContainerAmounts;
  };

/** What is remembered of one container. */
export interface TemplateMemory {
  readonly container: string;
  /** As its author wrote it, without what was written over it. */
  readonly author: ContainerAmounts;
  /**
   * When a change of his was seen, by resource, ms since 1970: the last time at which pods from before it
   * were there. Absent: since he is known, never.
   */
  readonly editedAtMs: Readonly<Partial<Record<ResourceName, number>>>;
  /**
   * Pods that were started before this are from before that change, by resource, ms since 1970; absent:
   * none is there any more.
   */
  readonly oldBeforeMs?: Readonly<Partial<Record<ResourceName, number>>>;
  /** What was written over his values, by resource. */
  readonly written?: Readonly<Partial<Record<ResourceName, WrittenOver>>>;
}

/** What was written over the author's values of a resource. */
export interface WrittenOver {
  readonly pair: ResourcePair;
  /** Ms since 1970. */
  readonly atMs: number;
  /** Since when it is known that it is not there any more, ms since 1970; absent: it is there. */
  readonly takenBackAtMs?: number;
  /** How often that came to be in a row, each time soon after it was written. */
  readonly times: number;
}

/** A workload after a cycle. */
export interface WorkloadRecord {
  readonly workload: {
    readonly kind: WorkloadKind;
    readonly namespace: string;
    readonly name: string;
  };
  /** The policy that counts for it. */
  readonly policy: { readonly namespace: string; readonly name: string };
  readonly status: WorkloadStatus["status"];
  /** One word; absent where there is nothing to say. */
  readonly reason?: string;
  readonly message?: string;
  /** Wall time of the last recommendation, ms. */
  readonly recommendedAtMs?: number;
  /** Wall time at which values began to be applied the last time, ms. */
  readonly appliedAtMs?: number;
  readonly method?: Exclude<WorkloadStatus["lastApplyMethod"], "Skip" | undefined>;
  readonly recommendations: readonly ContainerRecommendation[];
  readonly inForce: readonly ValuesInForce[];
  /** UID of the workload that `template` is about. */
  readonly uid?: string;
  /** What is remembered of its template; absent in records of older versions. */
  readonly template?: readonly TemplateMemory[];
  /** What the recommendations were made of, see `usageSummaryOf()`; absent where nobody keeps it. */
  readonly usage?: readonly UsageSummary[];
}

/** The record as it stands in the status of a policy. */
export function workloadStatusOf(record: WorkloadRecord): WorkloadStatus {
  const { workload, status, reason, message, recommendedAtMs, appliedAtMs } = record;
  // Nothing was ever applied, and nothing is: that has no way, and is told as such.
  const method = record.method ?? (status === "Skipped" ? "Skip" : undefined);
  return {
    namespace: workload.namespace,
    kind: workload.kind,
    name: workload.name,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message: cutToBytes(message, MOST_BYTES) }),
    ...(recommendedAtMs === undefined ? {} : { lastRecommendation: timeText(recommendedAtMs) }),
    ...(appliedAtMs === undefined ? {} : { lastApplied: timeText(appliedAtMs) }),
    ...(method === undefined ? {} : { lastApplyMethod: method }),
    recommendations: record.recommendations.map(adviceOf),
  };
}

/** The record as it stands in the report of its namespace. */
export function reportedWorkloadOf(record: WorkloadRecord): ReportedWorkload {
  const { namespace: _namespace, ...status } = workloadStatusOf(record);
  const { policy: { namespace, name }, usage, uid, template } = record;
  return {
    ...status,
    policy: { namespace, name },
    inForce: record.inForce.map(writtenInForce),
    ...(uid === undefined ? {} : { uid }),
    ...(template === undefined ? {} : { template: template.map(writtenTemplate) }),
    ...(usage === undefined ? {} : { usage: usage.map(writtenUsage) }),
  };
}

/** The record that a report of the namespace has. Throws a `SyntaxError` that names a bad quantity or time. */
export function workloadRecordOf(reported: ReportedWorkload, namespace: string): WorkloadRecord {
  const { kind, name, status, reason, message, lastRecommendation, lastApplied } = reported;
  const { lastApplyMethod: method, uid, template } = reported;
  return {
    workload: { kind, namespace, name },
    policy: reported.policy,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(lastRecommendation === undefined
      ? {}
      : { recommendedAtMs: millisecondsOf(lastRecommendation) }),
    ...(lastApplied === undefined ? {} : { appliedAtMs: millisecondsOf(lastApplied) }),
    ...(method === undefined || method === "Skip" ? {} : { method }),
    recommendations: reported.recommendations.map((advice) => ({
      container: advice.container,
      ...amountsOf(advice),
      cpu: parseCPU(advice.cpu),
      memory: parseBytes(advice.memory),
      explanation: advice.explanation,
    })),
    inForce: reported.inForce.map(inForceOf),
    ...(uid === undefined ? {} : { uid }),
    ...(template === undefined ? {} : { template: template.map(templateOf) }),
    ...(reported.usage === undefined ? {} : { usage: reported.usage.map(summaryOf) }),
  };
}

function adviceOf(recommendation: ContainerRecommendation): ContainerAdvice {
  return {
    container: recommendation.container,
    ...writtenAmounts(recommendation),
    cpu: formatCPU(recommendation.cpu),
    memory: formatBytes(recommendation.memory),
    explanation: cutToBytes(recommendation.explanation, MOST_BYTES),
  };
}

function writtenInForce({ container, adoptedOn, ...values }: ValuesInForce): WrittenInForce {
  return {
    container,
    ...writtenAmounts(values),
    ...(adoptedOn === undefined ? {} : { adoptedOn: writtenAmounts(adoptedOn) }),
  };
}

function inForceOf({ container, adoptedOn, ...values }: WrittenInForce): ValuesInForce {
  return {
    container,
    ...amountsOf(values),
    ...(adoptedOn === undefined ? {} : { adoptedOn: amountsOf(adoptedOn) }),
  };
}

function writtenUsage({ container, cpu, memory }: UsageSummary): ReportedUsage {
  return {
    container,
    ...(cpu === undefined ? {} : { cpu: mapFigures(cpu, formatCPU) }),
    ...(memory === undefined ? {} : { memory: mapFigures(memory, String) }),
  };
}

function summaryOf({ container, cpu, memory }: ReportedUsage): UsageSummary {
  return {
    container,
    ...(cpu === undefined ? {} : { cpu: mapFigures(cpu, parseCPU) }),
    ...(memory === undefined ? {} : { memory: mapFigures(memory, parseBytes) }),
  };
}

/** All figures but the count, read or written. */
function mapFigures<T extends number | string, R>(
  { samples, min, p50, p90, p95, p99, max }: Figures<T>,
  map: (figure: T) => R,
): Figures<R> {
  return {
    samples,
    min: map(min),
    p50: map(p50),
    p90: map(p90),
    p95: map(p95),
    p99: map(p99),
    max: map(max),
  };
}

type Figures<T> =
  & Pick<UsageFigures, "samples">
  & Readonly<Record<Exclude<keyof DistributionSummary, "samples">, T>>;
