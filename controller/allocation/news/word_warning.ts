/**
 * A word of the user's that does not count, and whose word it is.
 *
 * @module
 */
import type { HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import type { SharedSubject } from "../ports.ts";

/** A sentence about a word that many pods share: told where it stands, however many they are. */
export interface SharedWarning {
  readonly message: string;
  readonly about: SharedSubject;
}

/** A sentence about the pod's own word, or about one that it shares. */
export type WordWarning = string | SharedWarning;

/** The sentence alone. */
export function warningText(warning: WordWarning): string {
  return typeof warning === "string" ? warning : warning.message;
}

/** The sentence as one of this subject; of the pod where there is none. */
export function warningOf(about: SharedSubject | undefined): (message: string) => WordWarning {
  return (message) => about === undefined ? message : { message, about };
}

/** The workload as events name it. */
export function workloadSubject({ kind, metadata: { name, uid } }: Workload): SharedSubject {
  return { apiVersion: "apps/v1", kind, name, uid };
}

/** The namespace as events name it. */
export function namespaceSubject({ metadata: { name, uid } }: Namespace): SharedSubject {
  return { apiVersion: "v1", kind: "Namespace", name, uid };
}

/** The HPA as events name it. */
export function autoscalerSubject(
  { metadata: { name, uid } }: HorizontalPodAutoscaler,
): SharedSubject {
  return { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name, uid };
}
