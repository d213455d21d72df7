/**
 * Which faults of a plan meet a request, a list or a watch of a process. Counts the requests of each
 * process over all of its lives.
 *
 * @module
 */
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import type { RequestLine } from "../../lab/simulation/api/request_gate.ts";
import {
  type AnswerFault,
  type CrashFault,
  type Fault,
  FAULTS_END_MS,
  type FreezeFault,
  type LateFault,
  type ProcessName,
  type TravelFault,
} from "./fault.ts";

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
