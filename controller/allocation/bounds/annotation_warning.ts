/**
 * A label or annotation that has no effect, and the object that carries it.
 *
 * @module
 */
import type { HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import type { SharedSubject } from "../ports.ts";

/** A warning about a key that many pods share: one event on the object that carries it. */
export interface SharedWarning {
  readonly message: string;
  readonly about: SharedSubject;
}

/** A warning about a key of the pod, or about one that it shares. */
export type AnnotationWarning = string | SharedWarning;

/** The message alone. */
export function warningText(warning: AnnotationWarning): string {
  return typeof warning === "string" ? warning : warning.message;
}

/** Makes a message a warning about this subject, or about the pod where there is none. */
export function warningOf(
  about: SharedSubject | undefined,
): (message: string) => AnnotationWarning {
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
