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

/** A request of a process: the nth of its verb and kind since the beginning, counted from 1. */
interface RequestRef {
  readonly process: ProcessName;
  readonly verb: Verb;
  readonly object: KindName;
  readonly nth: number;
}

/** A fault of one request. */
export type RequestFault =
  & RequestRef
  & Readonly<
    | {
      /** This many requests in a row fail, or the server does them and the answer is lost (`done`). */
      fault: "answer";
      /** HTTP status; 0 stands for no answer. */
      status: number;
      done: boolean;
      retryAfterMs?: number;
      times: number;
    }
    /** The request reaches the server late; its process gives up waiting after 10 s. */
    | { fault: "late"; ms: number }
    /** The process ends right after the server has done the request, and starts again `downMs` later. */
    | { fault: "crash"; downMs: number }
  >;

/** When a fault begins and for how long it lasts, ms of virtual time. */
interface Span {
  readonly atMs: number;
  readonly ms: number;
}

/** A fault of a process. */
type ProcessFault = Span & {
  readonly process: ProcessName;
  /**
   * `kill`: it ends, and starts again `ms` later. `pause`: it stands still, then goes on as if nothing
   * had happened. `clockJump`: its wall clock jumps by `ms`.
   */
  readonly fault: "kill" | "pause" | "clockJump";
};

/** A fault in how a process follows a kind. */
type WatchFault =
  & Span
  & Readonly<{ process: ProcessName; object: KindName }>
  & Readonly<
    | {
      /** The watch delivers nothing. */
      fault: "freeze";
      /** `resume`: all events follow, late. `expired`: it ends with 410. `cut`: the connection ends. */
      end: "resume" | "expired" | "cut";
    }
    /** Lists show the state of `ageMs` before. */
    | { fault: "travel"; ageMs: number }
    /**
     * `listFailure`: lists and watches fail, the copy is known to be out of sync. `duplicate`: each
     * event of the watch is delivered twice.
     */
    | { fault: "listFailure" | "duplicate" }
  >;

/**
 * A fault of a pod, `namespace/name`: its record is deleted or corrupted, the name of the market's
 * field manager no longer lists the original limits (as with 20 containers), users or the node change
 * the pod.
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
  readonly pod: string;
  /** For `editLimit`, millicores. */
  readonly limit?: number;
  readonly field?: typeof CORRUPTIONS[number];
}

/** A fault that begins at a time. */
export type TimedFault =
  | ProcessFault
  | WatchFault
  | PodFault
  | Span
    & Readonly<
      /** The whole API server gives no answers, has no history, or closes all watches. */
      | { fault: "outage" | "compact" | "closeWatches" }
      /** Admission refuses resizes of a pod, `namespace/name`, or the status of its record. */
      | { fault: "refuse"; object: "Pod" | "PodAllocation"; pod: string }
      /** A namespace opts out and in again `ms` later. */
      | { fault: "optOut"; namespace: string }
    >;

/** Any fault. */
export type Fault = RequestFault | TimedFault;
/** The faults of this name. */
export type FaultOf<F extends Fault["fault"], T extends Fault = Fault> = T extends unknown
  ? F extends T["fault"] ? T : never
  : never;

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
  freeze(name: ProcessName, object: KindName, atMs: number): FaultOf<"freeze"> | undefined;
  travel(name: ProcessName, object: KindName, atMs: number): FaultOf<"travel"> | undefined;
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
  ): FaultOf<F> | undefined {
    const found = faults.find((one) =>
      one.fault === fault && "object" in one && "process" in one && "atMs" in one &&
      one.process === process &&
      one.object === object && atMs >= one.atMs && atMs < one.atMs + one.ms
    );
    return found as FaultOf<F> | undefined;
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
