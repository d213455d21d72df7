/**
 * What is known of a workload after a reconcile, and how it is written: to the status of its policy, and to the
 * report of its namespace, from which it is read again.
 *
 * @module
 */
import type { ContainerAdvice, WorkloadStatus } from "../api/policy_status.ts";
import type {
  ReportedWorkload,
  WrittenAmounts,
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
  /** A reason code; absent where there is nothing to report. */
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

/** True where there is no recommendation for want of metrics. */
export function lacksMetrics({ reason }: WorkloadRecord): boolean {
  return reason === "MetricsMissing" || reason === "ProviderUnavailable";
}

/** The record as it stands in the status of a policy. */
export function workloadStatusOf(record: WorkloadRecord): WorkloadStatus {
  const { workload: { namespace, kind, name }, status, reason, message } = record;
  return defined({
    namespace,
    kind,
    name,
    status,
    reason,
    message: mapDefined(message, (text) => cutToBytes(text, MOST_BYTES)),
    lastRecommendation: mapDefined(record.recommendedAtMs, timeText),
    lastApplied: mapDefined(record.appliedAtMs, timeText),
    // Skip: nothing was ever applied, and nothing is.
    lastApplyMethod: record.method ?? (status === "Skipped" ? "Skip" as const : undefined),
    recommendations: record.recommendations.map((one): ContainerAdvice => ({
      container: one.container,
      ...writtenAmounts(one),
      cpu: formatCPU(one.cpu),
      memory: formatBytes(one.memory),
      explanation: cutToBytes(one.explanation, MOST_BYTES),
    })),
  });
}

/** The record as it stands in the report of its namespace. */
export function reportedWorkloadOf(record: WorkloadRecord): ReportedWorkload {
  const { namespace: _namespace, ...status } = workloadStatusOf(record);
  const { policy: { namespace, name }, usage, uid, template } = record;
  return defined({
    ...status,
    policy: { namespace, name },
    inForce: record.inForce.map(({ container, adoptedOn, ...values }) =>
      defined({
        container,
        ...writtenAmounts(values),
        adoptedOn: mapDefined(adoptedOn, writtenAmounts),
      })
    ),
    uid,
    template: template?.map(writtenTemplate),
    usage: usage?.map((one) => mapUsage(one, { cpu: formatCPU, memory: String })),
  });
}

/** The record that a report of the namespace has. Throws a `SyntaxError` that names a bad quantity or time. */
export function workloadRecordOf(reported: ReportedWorkload, namespace: string): WorkloadRecord {
  const { kind, name, policy, status, reason, message, uid, template } = reported;
  const { lastApplyMethod: method } = reported;
  return defined({
    workload: { kind, namespace, name },
    policy,
    status,
    reason,
    message,
    recommendedAtMs: mapDefined(reported.lastRecommendation, millisecondsOf),
    appliedAtMs: mapDefined(reported.lastApplied, millisecondsOf),
    method: method === "Skip" ? undefined : method,
    recommendations: reported.recommendations.map((advice) => ({
      container: advice.container,
      ...amountsOf(advice),
      cpu: parseCPU(advice.cpu),
      memory: parseBytes(advice.memory),
      explanation: advice.explanation,
    })),
    inForce: reported.inForce.map(({ container, adoptedOn, ...values }) =>
      defined({ container, ...amountsOf(values), adoptedOn: mapDefined(adoptedOn, amountsOf) })
    ),
    uid,
    template: template?.map(templateOf),
    usage: reported.usage?.map((one) => mapUsage(one, { cpu: parseCPU, memory: parseBytes })),
  });
}

/** How an amount of each resource is read, or written. */
type ByResource<From, To> = Readonly<Record<ResourceName, (amount: From) => To>>;

function mapAmounts<From, To>(
  { cpu, memory, cpuLimit, memoryLimit }: {
    readonly [K in keyof ContainerAmounts]: From | undefined;
  },
  map: ByResource<From, To>,
): { readonly [K in keyof ContainerAmounts]: To } {
  return defined({
    cpu: mapDefined(cpu, map.cpu),
    memory: mapDefined(memory, map.memory),
    cpuLimit: mapDefined(cpuLimit, map.cpu),
    memoryLimit: mapDefined(memoryLimit, map.memory),
  });
}

function mapUsage<From, To>(
  { container, cpu, memory }: UsageSummary<From>,
  map: ByResource<From, To>,
): UsageSummary<To> {
  const mapFigures =
    (of: (amount: From) => To) =>
    ({ samples, ...amounts }: DistributionSummary<From>): DistributionSummary<To> => ({
      samples,
      min: of(amounts.min),
      p50: of(amounts.p50),
      p90: of(amounts.p90),
      p95: of(amounts.p95),
      p99: of(amounts.p99),
      max: of(amounts.max),
    });
  return defined({
    container,
    cpu: mapDefined(cpu, mapFigures(map.cpu)),
    memory: mapDefined(memory, mapFigures(map.memory)),
  });
}

/** Amounts, millicores and bytes, as quantities. */
export function writtenAmounts(amounts: ContainerAmounts): WrittenAmounts {
  return mapAmounts(amounts, { cpu: formatCPU, memory: formatBytes });
}

/** The amounts. Throws a `SyntaxError` that names a bad quantity. */
export function amountsOf(written: WrittenAmounts): ContainerAmounts {
  return mapAmounts(written, { cpu: parseCPU, memory: parseBytes });
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
  const written = ({ by, atMs }: TemplateChange) => defined({ by, at: timeText(atMs) });
  return defined({
    container,
    ...writtenAmounts(values),
    cpuChanged: mapDefined(changed.cpu, written),
    memoryChanged: mapDefined(changed.memory, written),
  });
}

function templateOf(
  { container, cpuChanged, memoryChanged, ...values }: WrittenTemplate,
): ContainerTemplate {
  const read = ({ by, at }: NonNullable<WrittenTemplate["cpuChanged"]>): TemplateChange =>
    defined({ by, atMs: millisecondsOf(at) });
  const changed = defined({
    cpu: mapDefined(cpuChanged, read),
    memory: mapDefined(memoryChanged, read),
  });
  const isChanged = Object.keys(changed).length > 0;
  return { container, values: amountsOf(values), ...(isChanged ? { changed } : {}) };
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
