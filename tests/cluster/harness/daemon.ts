/**
 * Processes that outlive the harness: started with a log, remembered by a record, ended by number.
 *
 * @module
 */
import { run } from "./shell.ts";

export interface DaemonCommand {
  readonly command: readonly string[];
  /** Written to at its end. */
  readonly log: string;
  readonly record: string;
}

/** Nothing leaves the namespace, so a proxy meant for the machine would only be in the way. */
export const NO_PROXY: Readonly<Record<string, string>> = {
  HTTP_PROXY: "",
  HTTPS_PROXY: "",
  ALL_PROXY: "",
  http_proxy: "",
  https_proxy: "",
  all_proxy: "",
  NO_PROXY: "*",
  no_proxy: "*",
};

/**
 * In a session of its own, so that no terminal ends it. A shell's background process leads no group,
 * so `setsid` does not fork and the number stays. Without the caller's other files: `flock(1)` passes
 * its lock on to what it starts, and a daemon would hold it for ever.
 */
const START = 'log=$1; shift; setsid "$@" >>"$log" 2>&1 </dev/null ' +
  "3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- & echo $!";

export async function startDaemon({ command, log, record }: DaemonCommand): Promise<void> {
  const pid = Number(
    await run(["sh", "-c", START, "start", log, ...command], { env: NO_PROXY }),
  );
  const stat = await processStat(pid);
  if (stat === undefined) {
    throw new Error(`Cannot start ${command[0]}: it ended at once; its log is ${log}`);
  }
  await Deno.writeTextFile(record, writeRecord({ pid, startTicks: stat.startTicks }));
}

/** The process of a record file while it lives, otherwise undefined. */
export async function livingProcess(file: string): Promise<ProcessRecord | undefined> {
  const record = parseRecord(await readIfThere(file) ?? "");
  if (record === undefined) return undefined;
  return isSame(record, await processStat(record.pid)) ? record : undefined;
}

/**
 * Ends a process: SIGTERM, and SIGKILL when it still lives after `patience` ms. Resolves when it is
 * gone; does nothing when it is already.
 */
export async function endProcess(
  record: ProcessRecord,
  { patience = 5_000 }: { readonly patience?: number } = {},
): Promise<void> {
  const began = performance.now();
  let sent: Deno.Signal | undefined;
  while (isSame(record, await processStat(record.pid))) {
    const wanted = performance.now() - began < patience ? "SIGTERM" : "SIGKILL";
    if (performance.now() - began > patience + 10_000) {
      throw new Error(`Cannot end process ${record.pid}: it lives on after SIGKILL`);
    }
    if (wanted !== sent) signal(record.pid, wanted);
    sent = wanted;
    await pause(50);
  }
}

/** Sends a signal; a process that is gone is passed over. */
export function signal(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !/ESRCH/.test(String(error))) throw error;
  }
}

export async function processStat(pid: number): Promise<ProcessStat | undefined> {
  return parseStat(await readIfThere(`/proc/${pid}/stat`) ?? "");
}

/** A file's text, or undefined where it is not there or its process is gone. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || /ESRCH|ENODEV/.test(String(error))) {
      return undefined;
    }
    throw error;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export interface ProcessRecord {
  readonly pid: number;
  /** Since the machine's start, in clock ticks: field 22 of `/proc/PID/stat`. */
  readonly startTicks: number;
}

export interface ProcessStat {
  /** `Z` and `X` are dead. */
  readonly state: string;
  readonly parent: number;
  readonly startTicks: number;
}

function parseRecord(text: string): ProcessRecord | undefined {
  const match = /^([1-9]\d*) (\d+)\n$/.exec(text);
  if (match === null) return undefined;
  return { pid: Number(match[1]), startTicks: Number(match[2]) };
}

function writeRecord({ pid, startTicks }: ProcessRecord): string {
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
