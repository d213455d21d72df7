/**
 * Amounts and times as they stand in reports.
 *
 * @module
 */
import type { WrittenAmounts } from "../api/recommendation_report.ts";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import type { ContainerAmounts } from "./workload_record.ts";

/** Amounts, millicores and bytes, as quantities. */
export function writtenAmounts(
  { cpu, memory, cpuLimit, memoryLimit }: ContainerAmounts,
): WrittenAmounts {
  return {
    ...(cpu === undefined ? {} : { cpu: formatCPU(cpu) }),
    ...(memory === undefined ? {} : { memory: formatBytes(memory) }),
    ...(cpuLimit === undefined ? {} : { cpuLimit: formatCPU(cpuLimit) }),
    ...(memoryLimit === undefined ? {} : { memoryLimit: formatBytes(memoryLimit) }),
  };
}

/** The amounts. Throws a `SyntaxError` that names a bad quantity. */
export function amountsOf(
  { cpu, memory, cpuLimit, memoryLimit }: WrittenAmounts,
): ContainerAmounts {
  return {
    ...(cpu === undefined ? {} : { cpu: parseCPU(cpu) }),
    ...(memory === undefined ? {} : { memory: parseBytes(memory) }),
    ...(cpuLimit === undefined ? {} : { cpuLimit: parseCPU(cpuLimit) }),
    ...(memoryLimit === undefined ? {} : { memoryLimit: parseBytes(memoryLimit) }),
  };
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
