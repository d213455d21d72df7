/**
 * Containers of a pod or of a pod template, from their entries in spec and status.
 *
 * @module
 */
import {
  NO_RESOURCES,
  type Pod,
  type PodContainer,
  type ResourceAmounts,
  type Resources,
} from "../../../shared/api/pod.ts";
import { limitManagersOf } from "../../../shared/api/managed_fields.ts";
import { present, someOf } from "../client/json_fields.ts";
import { cpuOf, memoryBoundOf, memoryOf, parseTime } from "./object_fields.ts";
import type {
  RawContainer,
  RawContainerStatus,
  RawMetadata,
  RawPodSpec,
  RawPodStatus,
  RawResources,
  Texts,
} from "./raw_objects.ts";

/** Containers in spec and status of a pod; a template has neither status nor field managers. */
export interface RawContainers {
  readonly metadata?: Pick<RawMetadata, "managedFields">;
  readonly spec: Pick<RawPodSpec, "containers" | "initContainers">;
  readonly status?: Pick<RawPodStatus, "containerStatuses" | "initContainerStatuses"> | undefined;
}

/**
 * Reads containers and sidecars as one list, the other init containers as another; `allocated` is kept on
 * request. Throws a `SyntaxError` for a quantity that is too large to be counted.
 */
export function parseContainers(
  { metadata, spec, status }: RawContainers,
  { keepAllocated = false }: { readonly keepAllocated?: boolean } = {},
): Pick<Pod, "containers" | "initContainers"> {
  const managers = limitManagersOf(metadata?.managedFields);
  const parse = (
    specs: readonly RawContainer[] = [],
    statuses: readonly RawContainerStatus[] = [],
  ): PodContainer[] =>
    specs.map((container) => {
      const { name } = container;
      const containerStatus = statuses.find((one) => one.name === name);
      return {
        ...parseContainer(container, containerStatus),
        ...(keepAllocated && containerStatus?.allocatedResources !== undefined
          ? { allocated: amountsOf(containerStatus.allocatedResources) }
          : {}),
        ...present("limitManagers", managers.get(name)),
      };
    });
  const main = parse(spec.containers, status?.containerStatuses);
  const init = parse(spec.initContainers, status?.initContainerStatuses);
  return {
    // `restartPolicy: Always` makes a sidecar of init containers only.
    containers: [
      ...main.map((one) => ({ ...one, sidecar: false })),
      ...init.filter(({ sidecar }) => sidecar),
    ],
    initContainers: init.flatMap((one, index) => {
      if (one.sidecar) return [];
      const before = init.slice(0, index).filter(({ sidecar }) => sidecar).length;
      return [before === 0 ? one : { ...one, sidecarsBefore: before }];
    }),
  };
}

/** Reads one container; `status` is undefined before the kubelet has reported it. */
function parseContainer(
  { name, restartPolicy, resources, resizePolicy }: RawContainer,
  status: RawContainerStatus | undefined,
): PodContainer {
  const restartsOn = (resource: string): boolean =>
    resizePolicy?.some((one) =>
      one.resourceName === resource && one.restartPolicy === "RestartContainer"
    ) ?? false;
  return {
    name,
    sidecar: restartPolicy === "Always",
    ...present("containerID", status?.containerID),
    ready: status?.ready === true,
    ...parseResources(resources),
    ...someOf("otherResources", otherResources(resources)),
    applied: status === undefined ? NO_RESOURCES : parseApplied(status),
    restartsOnCPU: restartsOn("cpu"),
    ...(restartsOn("memory") ? { restartsOnMemory: true } : {}),
    ...(status === undefined ? {} : parseRuns(status)),
  };
}

/** CPU and memory of requests and limits. Throws a `SyntaxError` as `parseContainers` does. */
export function parseResources({ requests, limits }: RawResources = {}): Resources {
  return { requests: amountsOf(requests), limits: amountsOf(limits) };
}

function amountsOf(list: Texts | undefined): ResourceAmounts {
  return { ...present("cpu", cpuOf(list)), ...present("memory", memoryOf(list)) };
}

function parseApplied({ resources, allocatedResources }: RawContainerStatus): Resources {
  const request = cpuOf(allocatedResources) ?? cpuOf(resources?.requests);
  return {
    requests: present("cpu", request),
    limits: {
      ...present("cpu", cpuOf(resources?.limits)),
      ...present("memory", memoryBoundOf(resources?.limits)),
    },
  };
}

/** Names of further requests and limits; most containers have none. */
function otherResources({ requests, limits }: RawResources = {}): readonly string[] {
  const names = (prefix: string, list: Texts = {}): string[] =>
    Object.keys(list).filter((name) => name !== "cpu" && name !== "memory")
      .map((name) => `${prefix}.${name}`);
  return [...names("requests", requests), ...names("limits", limits)];
}

/** Starts, restarts and ends of a container. */
function parseRuns(
  { restartCount = 0, state, lastState }: RawContainerStatus,
): Pick<PodContainer, "startedAtMs" | "restartedAtMs" | "oomKilledAtMs" | "crashLooping"> {
  const startedAtMs = parseTime(state?.running?.startedAt);
  // While it waits for the next start, the end of the last run.
  const restartedAtMs = startedAtMs ?? parseTime(state?.terminated?.finishedAt) ??
    parseTime(lastState?.terminated?.finishedAt);
  // The kubelet reports the last two ends.
  const oomKills = [state?.terminated, lastState?.terminated].flatMap((end) =>
    end?.reason === "OOMKilled" ? parseTime(end.finishedAt) ?? [] : []
  );
  // A kubelet reports `CrashLoopBackOff` only with its next sync of the pod: one of 1.36 showed a
  // container that had crashed for the fourth time as terminated, for most of the back-off.
  const crashLooping = state?.waiting?.reason === "CrashLoopBackOff" ||
    ((state?.terminated?.exitCode ?? 0) !== 0 && restartCount >= 2);
  return {
    ...present("startedAtMs", startedAtMs),
    ...present("restartedAtMs", restartCount === 0 ? undefined : restartedAtMs),
    ...present("oomKilledAtMs", oomKills.length === 0 ? undefined : Math.max(...oomKills)),
    ...(crashLooping ? { crashLooping: true } : {}),
  };
}
