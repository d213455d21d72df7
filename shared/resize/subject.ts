/**
 * A pod that wanted values must fit: one that runs, or one as it would be made.
 *
 * @module
 */
import type { Pod, PodContainer, QOSClass, Resources } from "../api/pod.ts";
import { movesRequest } from "./checks/qos_class.ts";
import { resourcesOf, type WantedContainer, type WantedResources } from "./resources.ts";

/** A pod that is there, or one as it would be made. */
export interface Subject extends Pick<Pod, "containers" | "initContainers" | "podLevel"> {
  /** For people: `pod web-1`, `new pods` or `the template`. */
  readonly name: string;
  readonly qosClass: QOSClass;
  /** True where `limits.cpu` is not rightsizing's: in running pods of the market. */
  readonly marketLimits: boolean;
  /** How many pods it stands for, for quotas. */
  readonly count: number;
  readonly nodeName?: string;
}

/** The subject's containers as the wanted values make them; each has its place. */
export function containersWanted(
  subject: Subject,
  wanted: WantedResources,
): readonly PodContainer[] {
  return subject.containers.map((container) => {
    const values = wanted.get(container.name);
    return values === undefined || container.sidecar
      ? container
      : { ...container, ...ownFields(subject, values) };
  });
}

/**
 * The fields that rightsizing may set on the subject. In a running pod of the market that leaves out
 * `limits.cpu`, which becomes the pod's own limit instead, and where the request goes with that limit
 * (Guaranteed) the CPU request.
 */
export function ownFields(subject: Subject, wanted: WantedContainer): Resources {
  const fields = resourcesOf(wanted);
  if (!subject.marketLimits) return fields;
  const { limitCPU: _limit, requestCPU, ...memory } = fields;
  return requestCPU === undefined || movesRequest(subject) ? memory : { ...memory, requestCPU };
}
