/**
 * Polls one pod until its limits are applied or refused, or until a timeout.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import type { Clock } from "../../shared/clock.ts";
import { type ClusterReader, CommandProblem, type PodName } from "./ports.ts";

/** The result of a poll, or of the polling. */
export interface PollEnd {
  readonly reason: EnforcementReason;
  readonly message: string;
  /** The server's refusal, when that ended it. */
  readonly refusal?: ApiError;
}

/** Reasons after which the kubelet may still do the resize: the pod is polled again. */
export const WAITS: ReadonlySet<EnforcementReason> = new Set([
  "ResizeInProgress",
  "ResizeDeferred",
  "ResizeError",
]);

/** Ports and timeout of the polling. */
export interface PollParts {
  readonly reader: Pick<ClusterReader, "pod">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Checks the pod and, where needed, writes. May throw an `ApiError`. */
  readonly check: (pod: Pod) => Promise<PollEnd>;
}

/** A kubelet needs 0.2 to 0.4 s for a resize. */
const POLL_MS = 250;
/** Pause after a server's back-off response without a Retry-After. */
const BUSY_MS = 1000;

/** Polls the pod with this name and UID. */
export async function pollPod(
  { uid, ...name }: PodName & { readonly uid: string },
  { reader, clock, signal, timeoutMs, check }: PollParts,
): Promise<PollEnd> {
  const deadline = clock.monotonic() + timeoutMs;
  let last: PollEnd = { reason: "ResizeInProgress", message: "nothing was tried yet" };
  while (true) {
    let waitMs = POLL_MS;
    try {
      const pod = await reader.pod(name);
      if (pod === undefined || pod.metadata.uid !== uid) return podGone(name);
      last = await check(pod);
      if (!WAITS.has(last.reason)) return last;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isGone(error)) return podGone(name);
      if (isFinal(error)) return { reason: "Refused", message: error.message, refusal: error };
      last = { reason: "Refused", message: error.message };
      waitMs = error.status === 409 ? POLL_MS : error.retryAfterMs ?? BUSY_MS;
    }
    if (signal.aborted) return { ...last, message: `stopped while waiting: ${last.message}` };
    const left = deadline - clock.monotonic();
    if (left <= 0) return { ...last, message: `${last.message} (after ${timeoutMs / 1000} s)` };
    await clock.sleep(Math.min(waitMs, left), signal);
  }
}

function podGone({ name }: Pick<PodName, "name">): PollEnd {
  return { reason: "PodGone", message: `pod ${name} no longer exists` };
}

/** 404, or 422 about the UID: there is a new pod of the name. */
function isGone({ status, message }: ApiError): boolean {
  return status === 404 || (status === 422 && /\buid\b.*immutable/is.test(message));
}

/** True for a lasting refusal; conflicts and back-off responses are temporary. */
function isFinal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429;
}

/** The pod. Throws a {@linkcode CommandProblem} where there is none; `action` is for instance `resize`. */
export async function existingPod(
  reader: Pick<ClusterReader, "pod">,
  { pod: podName, action }: { readonly pod: PodName; readonly action: string },
): Promise<Pod> {
  const pod = await reader.pod(podName);
  if (pod !== undefined) return pod;
  const { namespace, name } = podName;
  throw new CommandProblem(
    `Cannot ${action} pod ${name}: namespace ${namespace} has no such pod; is -n right?`,
  );
}
