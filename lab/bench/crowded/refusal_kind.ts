/**
 * The cause of a refused resize, by the server's message. Independent of the controller's own reading,
 * so that a run does not ask the code under test.
 *
 * @module
 */
import type { ResizeAnswer } from "../audit_log.ts";

/** What a check could have foreseen: all of it stands in objects that the controller watches. */
export const FORESEEABLE = ["quota", "LimitRange", "QoS", "NodeCapacity", "invalid"] as const;

/** What is no refusal of a limit: the pod was another or gone, or the server was not there. */
const NO_REFUSALS = ["conflict", "gone", "busy"] as const;

/** What a resize came to. */
export type AnswerKind =
  | "accepted"
  | (typeof NO_REFUSALS)[number]
  | (typeof FORESEEABLE)[number]
  | "policy"
  | "other";

const PATTERNS: readonly (readonly [RegExp, AnswerKind])[] = [
  [/\buid\b.*immutable/is, "gone"],
  [/^admission webhook|ValidatingAdmissionPolicy/i, "policy"],
  [/exceeded quota/i, "quota"],
  [/(maximum|minimum) \S+ usage per|max limit to request ratio per/i, "LimitRange"],
  [/QOS class/i, "QoS"],
  [/enough allocatable|enough resources/i, "NodeCapacity"],
];

/** The kind of an answer. */
export function answerKind({ code, message, causes }: ResizeAnswer): AnswerKind {
  if (code >= 200 && code < 300) return "accepted";
  if (causes.includes("NodeCapacity")) return "NodeCapacity";
  const named = PATTERNS.find(([pattern]) => pattern.test(message))?.[1];
  if (named !== undefined) return named;
  if (code === 409) return "conflict";
  if (code === 404) return "gone";
  if (code === 429 || code >= 500) return "busy";
  return code === 422 || code === 400 ? "invalid" : "other";
}

/** True for what a check could have foreseen. */
export function isForeseeable(kind: string): boolean {
  return FORESEEABLE.some((each) => each === kind);
}

/** True when the server refused the limit itself. */
export function isRefusal(kind: string): boolean {
  return kind !== "accepted" && !NO_REFUSALS.some((each) => each === kind);
}
