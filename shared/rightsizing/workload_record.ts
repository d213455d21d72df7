/**
 * The state of a workload after a reconcile, and how it is written: to the status of its policy, and to
 * the report of its namespace, from which it is read again.
 *
 * @module
 */
import * as z from "zod";
import {
  MOST_CONTAINERS,
  type WorkloadStatus,
  workloadStatusSchema,
} from "../api/policy_status.ts";
import { type ReportedWorkload, reportedWorkloadSchema } from "../api/recommendation_report.ts";
import type { WorkloadKind } from "../api/workload.ts";
import { cutToBytes } from "../quoted_text.ts";
import { defined, mapDefined } from "../defined.ts";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import type { PodContainer, Resources } from "../api/pod.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import type { DistributionSummary, UsageSummary } from "./distribution.ts";

/** Most bytes of a message or explanation; the schema counts characters, which are not more. */
const MOST_BYTES = 4096;

/** Requests and limits of a container: millicores and bytes. */
export type ContainerAmounts = Partial<Omit<ContainerRecommendation, "container" | "explanation">>;

/** The values in force for a container; an absent value is left as the template has it. */
export interface ValuesInForce extends ContainerAmounts {
  readonly container: string;
  /** The template's values of the container when these were adopted. */
  readonly adoptedOn?: ContainerAmounts;
}

/** A container of the template at the last reconcile. */
export interface ContainerTemplate extends ContainerAmounts {
  readonly container: string;
  /** The last change by another field manager; absent: none within a day. */
  readonly cpuChanged?: TemplateChange;
  readonly memoryChanged?: TemplateChange;
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
  /** The policy that has won it. */
  readonly policy: { readonly namespace: string; readonly name: string };
  readonly status: WorkloadStatus["status"];
  /** A reason code; absent where there is nothing to report. */
  readonly reason?: string;
  readonly message?: string;
  /** Wall time of the last recommendation, ms. */
  readonly recommendedAtMs?: number;
  /** Wall time at which the last application began, ms. */
  readonly appliedAtMs?: number;
  readonly method?: Exclude<WorkloadStatus["lastApplyMethod"], "Skip" | undefined>;
  readonly recommendations: readonly ContainerRecommendation[];
  readonly inForce: readonly ValuesInForce[];
  /** UID of the workload that `template` is about. */
  readonly uid?: string;
  /** Its template at the last reconcile. */
  readonly template?: readonly ContainerTemplate[];
  /** The usage behind the recommendations, see `usageSummaryOf()`; absent where it is not kept. */
  readonly usage?: readonly UsageSummary[];
}

/** True where a recommendation is missing because metrics are. */
export function lacksMetrics({ reason }: WorkloadRecord): boolean {
  return reason === "MetricsMissing" || reason === "ProviderUnavailable";
}

/** Codec of a number that the API has as a text. Decoding throws a `SyntaxError` for an invalid text. */
function numberAs(
  parse: (text: string) => number,
  format: (amount: number) => string,
): z.ZodCodec<z.ZodString, z.ZodNumber> {
  return z.codec(z.string(), z.number(), {
    decode: (text) => parse(text),
    encode: (amount) => format(amount),
  });
}

const container = z.string();
const samples = z.number();
const cpu = numberAs(parseCPU, formatCPU);
const memory = numberAs(parseBytes, formatBytes);
const time = numberAs(millisecondsOf, timeText);
const amounts = {
  ...{ cpu: cpu.exactOptional(), memory: memory.exactOptional() },
  ...{ cpuLimit: cpu.exactOptional(), memoryLimit: memory.exactOptional() },
};
const by = z.string().exactOptional();
const change = z.codec(z.object({ by, at: z.string() }), z.object({ by, atMs: z.number() }), {
  decode: ({ at, ...rest }) => ({ ...rest, atMs: millisecondsOf(at) }),
  encode: ({ atMs, ...rest }) => ({ ...rest, at: timeText(atMs) }),
}).exactOptional();

function figuresOf(
  amount: typeof cpu,
): Record<Exclude<keyof DistributionSummary, "samples">, typeof cpu> {
  return { min: amount, p50: amount, p90: amount, p95: amount, p99: amount, max: amount };
}

/** Codec of a report's entry, with texts in the API, and of a record, with numbers. */
const entryCodec = reportedWorkloadSchema.extend({
  lastRecommendation: time.exactOptional(),
  lastApplied: time.exactOptional(),
  recommendations: z.array(
    z.object({ container, ...amounts, cpu, memory, explanation: z.string() }),
  ),
  inForce: z.array(
    z.object({ container, ...amounts, adoptedOn: z.object(amounts).exactOptional() }),
  ),
  template: z.array(
    z.object({ container, ...amounts, cpuChanged: change, memoryChanged: change }),
  ).exactOptional(),
  usage: z.array(
    z.object({
      container,
      cpu: z.object({ samples, ...figuresOf(cpu) }).exactOptional(),
      memory: z.object({ samples, ...figuresOf(numberAs(parseBytes, String)) }).exactOptional(),
    }),
  ).exactOptional(),
});

/**
 * The record as an entry of its namespace's report. Containers beyond the first 128 are left out, so that an
 * entry always fits into an object.
 */
export function reportedWorkloadOf(record: WorkloadRecord): ReportedWorkload {
  const { workload: { kind, name }, policy, status, message, method } = record;
  const cut = (text: string): string => cutToBytes(text, MOST_BYTES);
  return z.encode(
    entryCodec,
    defined({
      ...{ kind, name, status, reason: record.reason, uid: record.uid },
      policy: { namespace: policy.namespace, name: policy.name },
      message: mapDefined(message, cut),
      lastRecommendation: record.recommendedAtMs,
      lastApplied: record.appliedAtMs,
      // Skip: nothing was ever applied, and nothing is.
      lastApplyMethod: method ?? (status === "Skipped" ? "Skip" as const : undefined),
      recommendations: record.recommendations.slice(0, MOST_CONTAINERS).map((one) => ({
        ...one,
        explanation: cut(one.explanation),
      })),
      inForce: record.inForce.slice(0, MOST_CONTAINERS),
      template: record.template?.slice(0, MOST_CONTAINERS),
      usage: record.usage?.slice(0, MOST_CONTAINERS),
    }),
  );
}

/** The record as an entry of a policy's status. */
export function workloadStatusOf(record: WorkloadRecord): WorkloadStatus {
  const { namespace } = record.workload;
  return workloadStatusSchema.parse({ namespace, ...reportedWorkloadOf(record) });
}

/** The record of a report's entry. Throws a `SyntaxError` that names an invalid quantity or time. */
export function workloadRecordOf(reported: ReportedWorkload, namespace: string): WorkloadRecord {
  const entry = entryCodec.parse(reported);
  const { kind, name, lastApplyMethod: method } = entry;
  return defined({
    workload: { kind, namespace, name },
    policy: entry.policy,
    status: entry.status,
    reason: entry.reason,
    message: entry.message,
    recommendedAtMs: entry.lastRecommendation,
    appliedAtMs: entry.lastApplied,
    method: method === "Skip" ? undefined : method,
    recommendations: entry.recommendations,
    inForce: entry.inForce,
    uid: entry.uid,
    template: entry.template,
    usage: entry.usage,
  });
}

/** A time, ms since 1970, as ISO 8601. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function millisecondsOf(time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new SyntaxError(`Cannot parse time: ${time} is no date`);
  return ms;
}

/** Requests and limits in force, by container. */
export function resourcesInForce(
  values: readonly ValuesInForce[],
): ReadonlyMap<string, Resources> {
  return new Map(values.map((one) => [one.container, resourcesOfAmounts(one)]));
}

/** The amounts as requests and limits. */
export function resourcesOfAmounts(
  { cpu, memory, cpuLimit, memoryLimit }: ContainerAmounts,
): Resources {
  return {
    requests: defined({ cpu, memory }),
    limits: defined({ cpu: cpuLimit, memory: memoryLimit }),
  };
}

/** The values in force for a record, each with the template's values as `adoptedOn`. */
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
