/**
 * How enforcement speaks of changes and refusals.
 *
 * @module
 */
import type { LimitChange } from "../../shared/actuation/resize_patch.ts";
import type { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";

/** `app 200m → 450m, proxy 50m → 40m`. */
export function describeChanges(pod: Pod, changes: readonly LimitChange[]): string {
  return changes.map(({ name, limitCPU }) => {
    const from = pod.containers.find((container) => container.name === name)?.limitCPU;
    return `${name} ${from ?? "?"}m → ${limitCPU}m`;
  }).join(", ");
}

/** What a refused resize means for what to do next. */
export type RefusalKind = "gone" | "conflict" | "busy" | "refused";

/**
 * 404, and 422 about an immutable UID (a pod of the same name was born again) mean that
 * the pod is gone; 409 that the state was old; 429, 5xx and no answer that the server is busy.
 */
export function describeRefusal({ status, message }: ApiError): RefusalKind {
  if (status === 404 || (status === 422 && /\buid\b.*immutable/is.test(message))) return "gone";
  if (status === 409) return "conflict";
  return status === 429 || status >= 500 || status === 0 ? "busy" : "refused";
}
