/**
 * A workload that can be rightsized.
 *
 * @module
 */
import type { PodTemplate, Workload } from "../api/workload.ts";
import type { RightsizedWorkload } from "./guards/rightsizing_facts.ts";

/** A workload with an unreadable template. */
export interface UnreadableWorkload extends Pick<RightsizedWorkload, "kind" | "metadata"> {
  /** Why, in a sentence. */
  readonly unreadableTemplate: string;
}

/** A workload as policies find it. */
export type FoundWorkload = RightsizedWorkload | UnreadableWorkload;

/** The workload as the guards take it; undefined where what it makes pods of can't be read. */
export function rightsizedWorkload(
  { kind, metadata, rollout, makes }: Workload,
): RightsizedWorkload | undefined {
  return makes === undefined ? undefined : { kind, metadata, rollout, ...makes };
}

/** The workload as the guards take it, or why they can't. */
export function foundWorkload(workload: Workload): FoundWorkload {
  const { kind, metadata, unreadableTemplate = "its template is not there" } = workload;
  return rightsizedWorkload(workload) ?? { kind, metadata, unreadableTemplate };
}

/** The containers that rightsizing is about: sidecars and other init containers are left alone. */
export function ownContainers(
  { template }: Pick<RightsizedWorkload, "template">,
): PodTemplate["containers"] {
  return template.containers.filter(({ sidecar }) => !sidecar);
}
