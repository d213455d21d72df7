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
 * 404, and 422 about an immutable UID (a pod of the same name was born again) mean that the pod is
 * gone; 409 that the state was old; 429, 5xx and no answer that the server is busy. A webhook's denial,
 * with a status of its own choice, and a webhook that can't be reached (500) concern the pods that it
 * is for, not the whole queue.
 */
export function refusalKind(refusal: ApiError): RefusalKind {
  const { status, message } = refusal;
  if (refusalReason(refusal) === "AdmissionDenied") return "refused";
  if (status === 404 || (status === 422 && /\buid\b.*immutable/is.test(message))) return "gone";
  if (status === 409) return "conflict";
  if (/failed calling webhook/i.test(message)) return "refused";
  return status === 429 || status >= 500 || status === 0 ? "busy" : "refused";
}

/** Reasons for the causes that a server of 1.36 names (`PodResizeValidator`). */
const CAUSES: Readonly<Record<string, EnforcementReason>> = {
  NodeCapacity: "NodeCapacity",
  UnsupportedPlatform: "WindowsPod",
};

/**
 * Messages of kube-apiservers 1.33 to 1.36; a webhook or policy chooses its own status, mostly 400 to 403.
 * The last ones are about what pod and kubelet are (`ValidatePodResize`): those that the API's state
 * shows are foreseen (`checks/platform.ts`), so that a refusal means that it shows less than the
 * server knows. Pod-level resources are refused by servers before 1.36 only, and by those with feature
 * gates of their own: the answer alone can say so.
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

/** All reasons that a refusal may have. */
export const REFUSAL_REASONS: ReadonlySet<EnforcementReason> = new Set([
  ...Object.values(CAUSES),
  ...MESSAGES.map(([, reason]) => reason),
  "Refused",
]);

/** The reason of a refusal: that of its cause where the server names one. */
export function refusalReason({ causes, message }: ApiError): EnforcementReason {
  for (const cause of causes) {
    const known = CAUSES[cause];
    if (known !== undefined) return known;
  }
  return MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? "Refused";
}
