/**
 * Which process a component is. A record names the process and its start, so that another one which
 * got the same number later is never taken for it.
 *
 * @module
 */

/** A process that was started. */
export interface ProcessRecord {
  readonly pid: number;
  /** Since the machine's start, in clock ticks: field 22 of `/proc/PID/stat`. */
  readonly startTicks: number;
}

/** What `/proc/PID/stat` reports. */
export interface ProcessStat {
  /** `Z` and `X` are dead. */
  readonly state: string;
  readonly parent: number;
  readonly startTicks: number;
}

/** Reads a record as {@linkcode writeRecord} writes it; undefined for anything else. */
export function parseRecord(text: string): ProcessRecord | undefined {
  const match = /^([1-9]\d*) (\d+)\n$/.exec(text);
  if (match === null) return undefined;
  return { pid: Number(match[1]), startTicks: Number(match[2]) };
}

/** The text of a record: one line with both numbers. */
export function writeRecord({ pid, startTicks }: ProcessRecord): string {
  return `${pid} ${startTicks}\n`;
}

/**
 * Reads `/proc/PID/stat`. The second field is the command in parentheses, which may itself hold
 * spaces and parentheses, so counting begins after the last one. Source: proc(5).
 */
export function parseStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).trim().split(" ");
  const [state, parent, startTicks] = [fields[0], Number(fields[1]), Number(fields[19])];
  if (state === undefined || !Number.isInteger(parent) || !Number.isInteger(startTicks)) {
    return undefined;
  }
  return { state, parent, startTicks };
}

/** Whether what `/proc` reports a number is still the recorded process, and alive. */
export function isSame(record: ProcessRecord, stat: ProcessStat | undefined): boolean {
  return stat !== undefined && stat.startTicks === record.startTicks &&
    stat.state !== "Z" && stat.state !== "X";
}
