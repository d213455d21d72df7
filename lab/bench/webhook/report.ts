/**
 * The report of the benchmark of the webhook.
 *
 * @module
 */
import { alignedColumns } from "../aligned_columns.ts";
import type { MemoryUse } from "../rightsizing/watch_memory.ts";

/** What was measured. */
export interface WebhookFigures {
  readonly seconds: number;
  readonly rate: number;
  readonly admissions: number;
  /** Answers that were none, or without a class. */
  readonly errors: number;
  /** The first of them, as messages. */
  readonly example?: string;
  /** From the moment at which a request was to be sent to its answer, ms, in ascending order. */
  readonly tookMs: readonly number[];
  readonly spot: number;
  /** Of the time in which all wanted to run, the share that others on the machine's host had. */
  readonly stolen: number;
  /** Memory of the leader after a collection of garbage. */
  readonly before: MemoryUse;
  readonly after: MemoryUse;
}

/** The figures in short, and whether the goals held. */
export interface WebhookReport extends Omit<WebhookFigures, "tookMs"> {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly highestMs: number;
  readonly held: boolean;
}

/** What is asked for: 10 ms for 99 of 100, no error, and as much memory after as before. */
export const MOST_P99_MS = 10;
/** Of the memory before; what more is there may be compiled code. */
const MOST_GROWTH = 0.1;

/** The report; figures without an admission have no times, and hold nothing. */
export function webhookReport({ tookMs, ...figures }: WebhookFigures): WebhookReport {
  const at = (share: number): number => tookMs[Math.ceil(share * tookMs.length) - 1] ?? NaN;
  const p99Ms = at(0.99);
  return {
    ...figures,
    p50Ms: at(0.5),
    p99Ms,
    highestMs: at(1),
    held: figures.errors === 0 && p99Ms <= MOST_P99_MS &&
      figures.after.used <= figures.before.used * (1 + MOST_GROWTH),
  };
}

/** The report as text. */
export function webhookTable(report: WebhookReport): string {
  const { seconds, rate, admissions, errors, example, spot, stolen, before, after } = report;
  const ms = (value: number): string => value.toFixed(1);
  return [
    `${rate} admissions a second for ${seconds} s over TLS on 127.0.0.1, through the leader in a ` +
    "process of its own",
    "",
    ...alignedColumns([
      ["admissions", "errors", "p50, ms", "p99, ms", "highest, ms"],
      [
        String(admissions),
        String(errors),
        ms(report.p50Ms),
        ms(report.p99Ms),
        ms(report.highestMs),
      ],
    ]),
    "",
    ...alignedColumns([
      ["memory used, MiB", "before", "after"],
      ["leader", before.used.toFixed(1), after.used.toFixed(1)],
    ]),
    "",
    `${spot} on spot; goal: p99 at most ${MOST_P99_MS} ms without an error, memory ` +
    `grown by ${MOST_GROWTH * 100} % at most: ` +
    (report.held ? "held" : "MISSED"),
    `others on this machine's host had ${
      (100 * stolen).toFixed(0)
    } % of the CPU time that was wanted`,
    ...(example === undefined ? [] : [`an error, for instance: ${example}`]),
  ].join("\n");
}
