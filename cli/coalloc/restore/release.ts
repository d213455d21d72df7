/**
 * Waits until a running controller has let go of restored pods.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  ENFORCEMENT_REASONS,
  type EnforcementReason,
} from "../../../shared/api/reasons/enforcement_reasons.ts";
import { listedReason, type VersionReason } from "../../../shared/api/reasons/reasons.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ClusterReader } from "../ports.ts";
import { recordedLimitsOf } from "../../../shared/resize/original_limits.ts";
import { allocationsOnRecord, isDone, type RestoreResult } from "./restore_pod.ts";

/** Ports and timeout of the wait. */
export interface ReleaseParts {
  readonly reader: Pick<ClusterReader, "allocations" | "pods" | "controllerIsAlive">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** All namespaces when absent. */
  readonly namespace?: string;
  /** The flag or variable that keeps the market on despite the settings. */
  readonly override?: string;
}

/** The state after the wait. */
export interface Release {
  readonly results: readonly RestoreResult[];
  /** Why it is unknown whether a controller still holds a pod, in a sentence. */
  readonly unseen?: string;
}

const POLL_MS = 1000;
/** Reasons of allocations with limits that the controller does not change. */
const HARMLESS: ReadonlySet<EnforcementReason | VersionReason> = new Set([
  "Restored",
  "IdentityMismatch",
  "OriginalUnknown",
]);
const MESSAGE =
  "the controller has not let go of the pod yet, and may set the market's limit once more";

/**
 * The results, with `RestoreBlocked` for pods that a controller still holds at the timeout. A controller that
 * has let go of a pod has removed its allocation; until then it might set the market's limit once more.
 * Without a running controller allocations stay, without effect.
 *
 * The admin of a namespace may be forbidden to look for a controller. The pods are restored by then, so a
 * refusal ends the wait, and not the command.
 */
export async function awaitRelease(
  results: readonly RestoreResult[],
  parts: ReleaseParts,
): Promise<Release> {
  try {
    return { results: await released(results, parts) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { results, unseen: unseenText(error, parts) };
  }
}

function unseenText({ message }: ApiError, { signal, namespace }: ReleaseParts): string {
  const state = signal.aborted ? "stopped while waiting for it" : message.replace(/\.$/, "");
  const where = namespace === undefined ? "-A" : `-n ${namespace}`;
  return `Cannot see whether a controller runs and still holds these pods: ${state}; ` +
    `kubectl get podallocations ${where} lists those that it has not let go of`;
}

async function released(
  results: readonly RestoreResult[],
  { reader, clock, signal, timeoutMs, namespace, override }: ReleaseParts,
): Promise<readonly RestoreResult[]> {
  const message = override === undefined ? MESSAGE : `${MESSAGE}: ${override}`;
  const waiting = results.some((result) => result.outcome === "Restored");
  if (!waiting || !await reader.controllerIsAlive()) return results;
  const deadline = clock.monotonic() + timeoutMs;
  while (true) {
    const held = await heldPods(reader, namespace);
    const unsure = results.some((one) => one.outcome === "Restored" && held.has(keyOf(one)));
    if (!unsure) return results;
    if (signal.aborted || clock.monotonic() >= deadline) {
      return results.map((one) =>
        isDone(one) && held.has(keyOf(one)) ? { ...one, outcome: "RestoreBlocked", message } : one
      );
    }
    await clock.sleep(Math.min(POLL_MS, deadline - clock.monotonic()), signal);
  }
}

/** Keys of the pods with limits that a controller might still set. */
async function heldPods(
  reader: ReleaseParts["reader"],
  namespace: string | undefined,
): Promise<ReadonlySet<string>> {
  const allocations = await allocationsOnRecord(reader, namespace);
  const held = allocations.filter((one) =>
    // A pod without recorded limits was never changed.
    recordedLimitsOf(one) !== undefined &&
    !HARMLESS.has(listedReason(ENFORCEMENT_REASONS, one.status?.reason ?? ""))
  );
  return new Set(held.map(({ metadata, spec }) => `${metadata.namespace}/${spec.podName}`));
}

function keyOf({ namespace, pod }: Pick<RestoreResult, "namespace" | "pod">): string {
  return `${namespace}/${pod}`;
}
