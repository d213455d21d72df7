/**
 * How long faults are felt: until then the product may be late, though never wrong.
 *
 * @module
 */
import { type Fault, PROCESSES } from "./fault.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";

/** Until when limits may come back late, and until when they may rise late; monotonic ms. */
export interface Disturbance {
  readonly restoreMs: number;
  readonly raiseMs: number;
}

/** What may pass until an interrupted watch or a loop that failed once goes on, ms. */
const RESUMED_MS = 6000;
/** Until a copy is listed again after failures, ms: the longest back-off and a little. */
const LISTED_MS = 35_000;
/** Until another controller leads, ms. */
const LED_MS = 25_000;
/** Until agents have answered the bounds of another controller that leads, ms. */
const ANSWERED_MS = LED_MS + 5000;
const AGENT_MS = 20_000;
/** Faults that break watches. Those within this time, ms, of another make lists wait longer. */
const BREAKS: ReadonlySet<Fault["fault"]> = new Set(["compact", "travel", "freeze", "outage"]);
const REPEATED_MS = 15_000;

/** How long the faults of the plan that have begun are felt. */
export function disturbance(
  { clock, processes, schedule, faults }: FaultCluster,
): Disturbance {
  const now = clock.monotonic();
  let restoreMs = schedule.disturbedUntilMs;
  let raiseMs = schedule.disturbedUntilMs;
  function lasts(until: number, raisesUntil = until): void {
    restoreMs = Math.max(restoreMs, until);
    raiseMs = Math.max(raiseMs, raisesUntil);
  }
  for (const name of PROCESSES) {
    const { process, startedMs = 0 } = processes.get(name) ?? {};
    const from = process?.alive === true ? startedMs : Infinity;
    if (from === 0) continue;
    if (name.startsWith("controller")) lasts(from + LED_MS, from + ANSWERED_MS);
    else lasts(from + AGENT_MS);
  }
  for (const fault of faults) {
    if (!("atMs" in fault) || fault.atMs > now) continue;
    const endMs = fault.atMs + ("ms" in fault ? fault.ms : 0);
    switch (fault.fault) {
      case "listFailure":
        lasts(endMs + LISTED_MS);
        break;
      case "clockJump":
        lasts(fault.atMs + RESUMED_MS, fault.atMs + ANSWERED_MS);
        break;
      case "pause":
      case "outage":
        lasts(endMs + LED_MS, endMs + ANSWERED_MS);
        break;
      case "refuse":
        // The back-off may be as long as the refusals lasted, the market's off switch forgets them.
        lasts(endMs + fault.ms + RESUMED_MS);
        break;
      case "optOut":
        lasts(Infinity);
        break;
      case "kill":
        break;
      case "compact":
      case "travel":
      case "freeze":
        lasts(endMs + (isRepeated(fault, faults) ? LISTED_MS : RESUMED_MS));
        break;
      default:
        lasts(endMs + RESUMED_MS);
    }
  }
  return { restoreMs, raiseMs };
}

/** Copies that broke a moment ago are listed again later each time. */
function isRepeated(fault: { readonly atMs: number }, faults: readonly Fault[]): boolean {
  return faults.some((one) =>
    one !== fault && BREAKS.has(one.fault) && "atMs" in one && one.atMs <= fault.atMs &&
    fault.atMs - one.atMs < REPEATED_MS
  );
}
