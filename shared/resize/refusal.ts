/**
 * The meaning of a refused resize: what to do next, and the reason.
 *
 * @module
 */
import type { ApiError } from "../api/api_error.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";

/** The kind of a refusal, which decides what to do next. */
export type RefusalKind = "gone" | "conflict" | "busy" | "refused";

/**
 * `gone`: 404, or 422 about an immutable UID, where a new pod has the same name. `conflict`: 409, the
 * cached pod was outdated. `busy`: 429, 5xx and no answer. A webhook's denial, with any status, and a
 * webhook that can't be reached (500) are `refused`: they concern the pods that it is for, not the queue.
 */
export function refusalKind(refusal: ApiError): RefusalKind {
  const { status, message } = refusal;
  if (refusalReason(refusal) === "AdmissionDenied") return "refused";
  if (status === 404 || (status === 422 && /\buid\b.*immutable/is.test(message))) return "gone";
  if (status === 409) return "conflict";
  if (/failed calling webhook/i.test(message)) return "refused";
  return status === 429 || status >= 500 || status === 0 ? "busy" : "refused";
}

/** Reasons by the causes in answers of servers 1.36 (`PodResizeValidator`). */
const CAUSES: Readonly<Record<string, EnforcementReason>> = {
  NodeCapacity: "NodeCapacity",
  UnsupportedPlatform: "WindowsPod",
};

/**
 * Reasons by messages of kube-apiservers 1.33 to 1.36. Those from `PodLevelResources` on are by
 * `ValidatePodResize`. For most of them `checks/platform.ts` holds before a patch is sent; pod-level
 * resources depend on the server's version and feature gates.
 */
const MESSAGES: readonly (readonly [RegExp, EnforcementReason])[] = [
  [/^admission webhook .* denied/is, "AdmissionDenied"],
  [/ValidatingAdmissionPolicy .* denied/is, "AdmissionDenied"],
  [/exceeded quota/i, "QuotaExceeded"],
  [/(maximum|minimum) \S+ usage per (container|pod)|max limit to request ratio per/i, "LimitRange"],
  [/node didn't have enough/i, "NodeCapacity"],
  [/pods? with pod-level resources (cannot be resized|is forbidden)/, "PodLevelResources"],
  [/static pods cannot be resized/, "StaticPod"],
  [/windows pods cannot be resized|only supported on linux nodes/, "WindowsPod"],
  [/node allocatable resource claims cannot be resized/, "DeviceClaims"],
  [/running on node without support for resize/, "KubeletTooOld"],
  [/QOS Class may not change/, "QoSWouldChange"],
];

/** The reason of a refusal, by its cause if the server names one, otherwise by its message. */
export function refusalReason({ causes, message }: ApiError): EnforcementReason {
  for (const cause of causes) {
    const known = CAUSES[cause];
    if (known !== undefined) return known;
  }
  return MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? "Refused";
}
