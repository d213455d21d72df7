/**
 * What is known of a workload after a reconcile, and how it is written: to the status of its policy, and to the
 * report of its namespace, from which it is read again.
 *
 * @module
 */
import type { ContainerAdvice, WorkloadStatus } from "../api/policy_status.ts";
import type {
  ReportedUsage,
  ReportedWorkload,
  UsageFigures,
  WrittenAmounts,
  WrittenChange,
  WrittenInForce,
  WrittenTemplate,
} from "../api/recommendation_report.ts";
import type { WorkloadKind } from "../api/workload.ts";
import { cutToBytes } from "../quoted_text.ts";
import { defined, mapDefined } from "../defined.ts";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import type { PodContainer, ResourceName, Resources } from "../api/pod.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import type { DistributionSummary, UsageSummary } from "./distribution.ts";

/** Bytes of a sentence; the schema counts characters, which are not more. */
const MOST_BYTES = 4096;

/** Requests and limits of a container: millicores and bytes. */
export type ContainerAmounts = Partial<Omit<ContainerRecommendation, "container" | "explanation">>;

/** Values of a container that were adopted. Absent: left as it was. */
export type ValuesInForce =
  & Pick<ContainerRecommendation, "container">
  & ContainerAmounts
  & {
    /** What the template said of the container then. */
    readonly adoptedOn?: ContainerAmounts;
  };

/** A container of the template at the last reconcile. */
export interface ContainerTemplate {
  readonly container: string;
  readonly values: ContainerAmounts;
  /** Last changes by other field managers, by resource; absent: none within a day. */
  readonly changed?: Readonly<Partial<Record<ResourceName, TemplateChange>>>;
}

/** A change of a resource of the template by another field manager. */
export interface TemplateChange {
  /** The field manager; absent where the server names none. */
  readonly by?: string;
  /** Ms since 1970. */
  readonly atMs: number;
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
  /** Its template at the last reconcile. */
  readonly template?: readonly ContainerTemplate[];
  /** What the recommendations were made of, see `usageSummaryOf()`; absent where it is not kept. */
  readonly usage?: readonly UsageSummary[];
}

/** The record as it stands in the status of a policy. */
export function workloadStatusOf(record: WorkloadRecord): WorkloadStatus {
  const { workload, status, reason, message, recommendedAtMs, appliedAtMs } = record;
  // Nothing was ever applied, and nothing is.
  const method: WorkloadStatus["lastApplyMethod"] = record.method ??
    (status === "Skipped" ? "Skip" : undefined);
  return defined({
    namespace: workload.namespace,
    kind: workload.kind,
    name: workload.name,
    status,
    reason,
    message: mapDefined(message, (text) => cutToBytes(text, MOST_BYTES)),
    lastRecommendation: mapDefined(recommendedAtMs, timeText),
    lastApplied: mapDefined(appliedAtMs, timeText),
    lastApplyMethod: method,
    recommendations: record.recommendations.map(adviceOf),
  });
}

/** The record as it stands in the report of its namespace. */
export function reportedWorkloadOf(record: WorkloadRecord): ReportedWorkload {
  const { namespace: _namespace, ...status } = workloadStatusOf(record);
  const { policy: { namespace, name }, usage, uid, template } = record;
  return defined({
    ...status,
    policy: { namespace, name },
    inForce: record.inForce.map(writtenInForce),
    uid,
    template: template?.map(writtenTemplate),
    usage: usage?.map(writtenUsage),
  });
}

/** The record that a report of the namespace has. Throws a `SyntaxError` that names a bad quantity or time. */
export function workloadRecordOf(reported: ReportedWorkload, namespace: string): WorkloadRecord {
  const { kind, name, status, reason, message, lastRecommendation, lastApplied } = reported;
  const { lastApplyMethod: method, uid, template } = reported;
  return defined({
    workload: { kind, namespace, name },
    policy: reported.policy,
    status,
    reason,
    message,
    recommendedAtMs: mapDefined(lastRecommendation, millisecondsOf),
    appliedAtMs: mapDefined(lastApplied, millisecondsOf),
    method: method === "Skip" ? undefined : method,
    recommendations: reported.recommendations.map((advice) => ({
      container: advice.container,
      ...amountsOf(advice),
      cpu: parseCPU(advice.cpu),
      memory: parseBytes(advice.memory),
      explanation: advice.explanation,
    })),
    inForce: reported.inForce.map(inForceOf),
    uid,
    template: template?.map(templateOf),
    usage: reported.usage?.map(summaryOf),
  });
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
  const written = writtenAmounts(values);
  return defined({ container, ...written, adoptedOn: mapDefined(adoptedOn, writtenAmounts) });
}

function inForceOf({ container, adoptedOn, ...values }: WrittenInForce): ValuesInForce {
  const amounts = amountsOf(values);
  return defined({ container, ...amounts, adoptedOn: mapDefined(adoptedOn, amountsOf) });
}

function writtenUsage({ container, cpu, memory }: UsageSummary): ReportedUsage {
  return defined({
    container,
    cpu: mapDefined(cpu, (figures) => mapFigures(figures, formatCPU)),
    memory: mapDefined(memory, (figures) => mapFigures(figures, String)),
  });
}

function summaryOf({ container, cpu, memory }: ReportedUsage): UsageSummary {
  return defined({
    container,
    cpu: mapDefined(cpu, (figures) => mapFigures(figures, parseCPU)),
    memory: mapDefined(memory, (figures) => mapFigures(figures, parseBytes)),
  });
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

/** Amounts, millicores and bytes, as quantities. */
export function writtenAmounts(
  { cpu, memory, cpuLimit, memoryLimit }: ContainerAmounts,
): WrittenAmounts {
  return defined({
    cpu: mapDefined(cpu, formatCPU),
    memory: mapDefined(memory, formatBytes),
    cpuLimit: mapDefined(cpuLimit, formatCPU),
    memoryLimit: mapDefined(memoryLimit, formatBytes),
  });
}

/** The amounts. Throws a `SyntaxError` that names a bad quantity. */
export function amountsOf(
  { cpu, memory, cpuLimit, memoryLimit }: WrittenAmounts,
): ContainerAmounts {
  return defined({
    cpu: mapDefined(cpu, parseCPU),
    memory: mapDefined(memory, parseBytes),
    cpuLimit: mapDefined(cpuLimit, parseCPU),
    memoryLimit: mapDefined(memoryLimit, parseBytes),
  });
}

/** A time, ms since 1970, as ISO 8601. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** The time, ms since 1970. Throws a `SyntaxError` for what is none. */
export function millisecondsOf(time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new SyntaxError(`Cannot parse time: ${time} is no date`);
  return ms;
}

function writtenTemplate({ container, values, changed = {} }: ContainerTemplate): WrittenTemplate {
  const { cpu, memory } = changed;
  return defined({
    container,
    ...writtenAmounts(values),
    cpuChanged: mapDefined(cpu, writtenChange),
    memoryChanged: mapDefined(memory, writtenChange),
  });
}

function templateOf(
  { container, cpuChanged, memoryChanged, ...values }: WrittenTemplate,
): ContainerTemplate {
  const changed = defined({
    cpu: mapDefined(cpuChanged, changeOf),
    memory: mapDefined(memoryChanged, changeOf),
  });
  return {
    container,
    values: amountsOf(values),
    ...(Object.keys(changed).length === 0 ? {} : { changed }),
  };
}

function writtenChange({ by, atMs }: TemplateChange): WrittenChange {
  return defined({ by, at: timeText(atMs) });
}

function changeOf({ by, at }: WrittenChange): TemplateChange {
  return defined({ by, atMs: millisecondsOf(at) });
}

/** By container, what it is to have. */
export function resourcesInForce(
  values: readonly ValuesInForce[],
): ReadonlyMap<string, Resources> {
  return new Map(values.map((one) => [one.container, resourcesOfAmounts(one)]));
}

/** The amounts as fields of a container. */
export function resourcesOfAmounts(
  { cpu, memory, cpuLimit, memoryLimit }: ContainerAmounts,
): Resources {
  return {
    requests: defined({ cpu, memory }),
    limits: defined({ cpu: cpuLimit, memory: memoryLimit }),
  };
}

/** What a record keeps of them, with what the containers of the template have beside them. */
export function valuesInForce(
  inForce: ReadonlyMap<string, Resources>,
  template: readonly PodContainer[],
): readonly ValuesInForce[] {
  return [...inForce].map(([container, values]) => {
    const written = template.find(({ name }) => name === container);
    const adoptedOn = mapDefined(written, amountsOfResources);
    return defined({ container, ...amountsOfResources(values), adoptedOn });
  });
}

/** Requests and limits as amounts. */
export function amountsOfResources({ requests, limits }: Resources): ContainerAmounts {
  return defined({ ...requests, cpuLimit: limits.cpu, memoryLimit: limits.memory });
}
