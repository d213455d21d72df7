/**
 * All containers of a pod, or of a template.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { limitManagersOf } from "../../shared/api/pod_managers.ts";
import { listOf, objectOf, textOf } from "./json_fields.ts";
import { parseContainer } from "./pod_container_fields.ts";

/** Options of {@linkcode parseContainers}. */
export interface ContainersOptions {
  /**
   * Whether what the kubelet has allocated is to be kept.
   *
   * @default {false}
   */
  readonly keepAllocated?: boolean;
}

/**
 * Containers and sidecars in one list, the other init containers in another. A template has neither
 * status nor field managers. Throws as `parseContainer` does.
 */
export function parseContainers(
  raw: unknown,
  { keepAllocated = false }: ContainersOptions = {},
): Pick<Pod, "containers" | "initContainers"> {
  const { metadata, spec, status } = objectOf(raw);
  const { managedFields } = objectOf(metadata);
  const managers = limitManagersOf(listOf(managedFields));
  const { containers, initContainers } = objectOf(spec);
  const { containerStatuses, initContainerStatuses } = objectOf(status);
  const parse = (entries: unknown, statuses: unknown): PodContainer[] =>
    listOf(entries).map((entry) => {
      const name = textOf(objectOf(entry).name) ?? "";
      return parseContainer({
        spec: entry,
        status: listOf(statuses).find((one) => objectOf(one).name === name),
        limitManagers: managers.get(name),
        keepAllocated,
      });
    });
  const plain = parse(containers, containerStatuses);
  const init = parse(initContainers, initContainerStatuses);
  return {
    // `restartPolicy: Always` is for init containers; on others it means nothing here.
    containers: [
      ...plain.map((one) => ({ ...one, sidecar: false })),
      ...init.filter(({ sidecar }) => sidecar),
    ],
    initContainers: init.flatMap((one, index) => {
      if (one.sidecar) return [];
      const before = init.slice(0, index).filter(({ sidecar }) => sidecar).length;
      return [before === 0 ? one : { ...one, sidecarsBefore: before }];
    }),
  };
}
