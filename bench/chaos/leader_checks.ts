/**
 * Whether only the leader wrote limits: the API server's record of resizes beside the Lease's history.
 *
 * @module
 */
import type { ResizeAnswer } from "../audit_log.ts";
import type { Violation } from "./limit_checks.ts";

/** A time in which one pod held the Lease. */
export interface Term {
  /** Name of the pod. */
  readonly pod: string;
  /** When it took the Lease by its own clock, ms since 1970. */
  readonly sinceMs: number;
}

/** A request of the old leader may still arrive this long after another one took over, ms. */
const LEADER_LAG_MS = 500;

/** Resizes that succeeded for a pod of the controller while another one held the Lease. */
export function otherWriters(
  answers: readonly ResizeAnswer[],
  terms: readonly Term[],
): Violation[] {
  return answers.flatMap(({ at, code, writer, namespace, pod }): Violation[] => {
    if (code >= 300 || writer === "") return [];
    const atMs = Date.parse(at);
    const term = terms.findLast(({ sinceMs }) => sinceMs <= atMs);
    if (term === undefined || term.pod === writer || atMs - term.sinceMs < LEADER_LAG_MS) return [];
    const message = `${writer} resized ${namespace}/${pod} at ${at} while ${term.pod} leads`;
    return [{ promise: "OneLeader", message }];
  });
}
