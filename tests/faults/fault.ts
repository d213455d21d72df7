/**
 * The faults that a run of the simulated cluster meets, as plain data: a plan can be printed, replayed
 * and shrunk.
 *
 * @module
 */
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import type { RequestLine, Verb } from "../../lab/simulation/api/request_gate.ts";

/** Faults come before this, and users rest from then on; ms of virtual time. */
export const FAULTS_END_MS = 120_000;

/** The processes of the simulated cluster. */
export const PROCESSES = [
  "controller-a",
  "controller-b",
  "agent-1",
  "agent-2",
  "kubelet-1",
  "kubelet-2",
] as const;
/** The name of a process; it keeps its name over restarts. */
export type ProcessName = typeof PROCESSES[number];

/** A request of a process: the nth of its verb and kind since the beginning, counted from 1. */
export interface RequestRef {
  readonly process: ProcessName;
  readonly verb: Verb;
  readonly object: KindName;
  readonly nth: number;
}

/** A request fails, or its answer is lost although the server did what it was asked (`done`). */
export interface AnswerFault extends RequestRef {
  readonly fault: "answer";
  /** HTTP status; 0 stands for no answer. */
  readonly status: number;
  readonly done: boolean;
  readonly retryAfterMs?: number;
  /** This many requests in a row. */
  readonly times: number;
}

/** A request reaches the server late; its process gives up waiting after 10 s. */
export interface LateFault extends RequestRef {
  readonly fault: "late";
  readonly ms: number;
}

/** The process ends right after the server has done this request, and starts again `downMs` later. */
export interface CrashFault extends RequestRef {
  readonly fault: "crash";
  readonly downMs: number;
}

/** What happens to a process at a time. Milliseconds of virtual time. */
export interface ProcessFault {
  readonly process: ProcessName;
  readonly atMs: number;
  readonly ms: number;
}

/** The process ends, and starts again `ms` later. */
export interface KillFault extends ProcessFault {
  readonly fault: "kill";
}
/** The process stands still for `ms`, then goes on as if nothing had happened. */
export interface PauseFault extends ProcessFault {
  readonly fault: "pause";
}
/** The process's wall clock jumps by `ms`. */
export interface ClockJumpFault extends ProcessFault {
  readonly fault: "clockJump";
}

/** A process's watch of a kind delivers nothing for `ms`. */
export interface FreezeFault extends ProcessFault {
  readonly fault: "freeze";
  readonly object: KindName;
  /** `resume`: all events follow, late. `expired`: the watch ends with 410. `cut`: the connection ends. */
  readonly end: "resume" | "expired" | "cut";
}

/** Lists of this kind that the process asks for within `ms` show the state of `ageMs` before. */
export interface TravelFault extends ProcessFault {
  readonly fault: "travel";
  readonly object: KindName;
  readonly ageMs: number;
}

/** Lists and watches of this kind fail for `ms`: the copy of the process is known to be out of sync. */
export interface ListFailureFault extends ProcessFault {
  readonly fault: "listFailure";
  readonly object: KindName;
}

/** Each event of a watch is delivered twice for `ms`. */
export interface DuplicateFault extends ProcessFault {
  readonly fault: "duplicate";
  readonly object: KindName;
}

/** What happens to the whole API server: no answers, no history, or all watches closed. */
export interface ServerFault {
  readonly fault: "outage" | "compact" | "closeWatches";
  readonly atMs: number;
  readonly ms: number;
}

/** The fields of a PodAllocation that a fault may corrupt. */
export const CORRUPTIONS = [
  "desired",
  "bounds",
  "revision",
  "phase",
  "originalLimits",
  "ownerReferences",
  "status",
] as const;

/**
 * What happens to a pod: its record is deleted or corrupted, the name of the market's field manager no
 * longer lists the original limits (as with 20 containers), users or the node change the pod.
 */
export interface PodFault {
  readonly fault:
    | "deleteRecord"
    | "corrupt"
    | "forgetOriginals"
    | "rebirth"
    | "editLimit"
    | "restartContainer";
  readonly atMs: number;
  /** `namespace/name`. */
  readonly pod: string;
  /** For `editLimit`, millicores. */
  readonly limit?: number;
  readonly field?: typeof CORRUPTIONS[number];
}

/** Admission refuses resizes of a pod, or the status of its record, for `ms`. */
export interface RefuseFault {
  readonly fault: "refuse";
  readonly object: "Pod" | "PodAllocation";
  readonly atMs: number;
  readonly ms: number;
  /** `namespace/name`. */
  readonly pod: string;
}

/** A namespace opts out and in again `ms` later. */
export interface OptOutFault {
  readonly fault: "optOut";
  readonly atMs: number;
  readonly ms: number;
  readonly namespace: string;
}

/** Any fault. */
export type Fault =
  | AnswerFault
  | LateFault
  | CrashFault
  | KillFault
  | PauseFault
  | ClockJumpFault
  | FreezeFault
  | TravelFault
  | ListFailureFault
  | DuplicateFault
  | ServerFault
  | PodFault
  | RefuseFault
  | OptOutFault;

/** The faults of one run, and the seed of its latencies. */
export interface FaultPlan {
  readonly seed: number;
  readonly idleCPU: "free" | "tight";
  readonly faults: readonly Fault[];
}

/** The fault in one line. */
export function faultText({ fault, ...fields }: Fault): string {
  const parts = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  return `${fault} ${parts.join(" ")}`;
}

/** A fault of one request. */
export type RequestFault = AnswerFault | LateFault | CrashFault;

/** A request that reached the server, for plans that are derived from a run. */
export interface NumberedRequest extends RequestLine {
  readonly process: ProcessName;
  readonly nth: number;
  readonly atMs: number;
}

/** The faults by what they meet. Times are monotonic milliseconds. */
export interface FaultSchedule {
  /** Counts the request and returns its fault. */
  ofRequest(name: ProcessName, line: RequestLine, atMs: number): RequestFault | undefined;
  /** The fault that stands still this watch now. */
  freeze(name: ProcessName, object: KindName, atMs: number): FreezeFault | undefined;
  travel(name: ProcessName, object: KindName, atMs: number): TravelFault | undefined;
  duplicates(name: ProcessName, object: KindName, atMs: number): boolean;
  /** Whether admission refuses what is sent about this pod, `namespace/name`, now. */
  refuses(object: KindName, pod: string, atMs: number): boolean;
  listsFail(name: ProcessName, object: KindName, atMs: number): boolean;
  /** Until when what request faults have caused may last, monotonic ms. */
  readonly disturbedUntilMs: number;
  /** All requests so far. */
  readonly requests: readonly NumberedRequest[];
}

function isRequestFault(fault: Fault): fault is RequestFault {
  return fault.fault === "answer" || fault.fault === "late" || fault.fault === "crash";
}

/** For how long a request that met the fault may be felt, ms: back-offs grow with each failure. */
function lastsMs(fault: RequestFault): number {
  if (fault.fault === "crash") return 0;
  if (fault.fault === "late") return fault.ms + 30_000;
  return fault.retryAfterMs === undefined && fault.times === 1 ? 8000 : Infinity;
}

/** The schedule of these faults; `record` keeps all requests. */
export function createFaultSchedule(
  faults: readonly Fault[],
  { record = false }: { readonly record?: boolean } = {},
): FaultSchedule {
  const ofRequests = faults.filter(isRequestFault);
  const counts = new Map<string, number>();
  const requests: NumberedRequest[] = [];
  let disturbedUntilMs = 0;

  function during<F extends Fault["fault"]>(
    fault: F,
    process: ProcessName,
    { object, atMs }: { readonly object: KindName; readonly atMs: number },
  ): Extract<Fault, { fault: F }> | undefined {
    const found = faults.find((one) =>
      one.fault === fault && "object" in one && "process" in one && "atMs" in one &&
      one.process === process &&
      one.object === object && atMs >= one.atMs && atMs < one.atMs + one.ms
    );
    return found as Extract<Fault, { fault: F }> | undefined;
  }

  return {
    ofRequest(process, { verb, kind }, atMs) {
      const key = `${process} ${verb} ${kind}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      if (record) requests.push({ process, verb, kind, nth, atMs });
      if (atMs >= FAULTS_END_MS) return undefined;
      const fault = ofRequests.find((one) =>
        one.process === process && one.verb === verb && one.object === kind && one.nth <= nth &&
        nth < one.nth + (one.fault === "answer" ? one.times : 1)
      );
      if (fault !== undefined) {
        disturbedUntilMs = Math.max(disturbedUntilMs, atMs + lastsMs(fault));
      }
      return fault;
    },
    freeze: (process, object, atMs) => during("freeze", process, { object, atMs }),
    travel: (process, object, atMs) => during("travel", process, { object, atMs }),
    duplicates: (process, object, atMs) =>
      during("duplicate", process, { object, atMs }) !== undefined,
    listsFail: (process, object, atMs) =>
      during("listFailure", process, { object, atMs }) !== undefined,
    refuses: (object, pod, atMs) =>
      faults.some((one) =>
        one.fault === "refuse" && one.object === object && one.pod === pod && atMs >= one.atMs &&
        atMs < one.atMs + one.ms
      ),
    get disturbedUntilMs() {
      return disturbedUntilMs;
    },
    requests,
  };
}
