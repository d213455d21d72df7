/**
 * A workload that can be rightsized.
 *
 * @module
 */
import type { PodTemplate, Workload } from "../api/workload.ts";
import type { RightsizedWorkload } from "./guards/rightsizing_facts.ts";

/** The workload as the guards take it; undefined where what it makes pods of can't be read. */
export function rightsizedWorkload(
  { kind, metadata, rollout, makes }: Workload,
): RightsizedWorkload | undefined {
  return makes === undefined ? undefined : { kind, metadata, rollout, ...makes };
}

/** The containers that rightsizing is about: sidecars and other init containers are left alone. */
export function ownContainers(
  { template }: Pick<RightsizedWorkload, "template">,
): PodTemplate["containers"] {
  return template.containers.filter(({ sidecar }) => !sidecar);
}
