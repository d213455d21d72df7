/**
 * One container of a pod, from its entry in the spec and its entry in the status.
 *
 * @module
 */
import type { PodContainer, Resources } from "../../shared/api/pod.ts";
import { type JSONObject, listOf, objectOf, present, textOf, wholeOf } from "./json_fields.ts";
import { parseTime } from "./micro_time.ts";
import { cpuOf, memoryBoundOf, memoryOf } from "./quantity_fields.ts";

/** Entries of one container, raw. */
export interface RawContainer {
  readonly spec: unknown;
  /** Undefined before the kubelet has reported it. */
  readonly status: unknown;
  /** From the record of field managers. */
  readonly limitManagers: readonly string[] | undefined;
  /** Whether what the kubelet has allocated is to be kept. @default {false} */
  readonly keepAllocated?: boolean;
}

/** The narrow container. Throws a `TypeError` without a name, a `SyntaxError` for a bad quantity. */
export function parseContainer(
  { spec, status, limitManagers, keepAllocated = false }: RawContainer,
): PodContainer {
  const { name, restartPolicy, resources, resizePolicy } = objectOf(spec);
  const ownName = textOf(name);
  if (ownName === undefined) throw new TypeError("Cannot read a pod: a container has no name");
  const { containerID, ready, resources: applied, allocatedResources } = objectOf(status);
  return {
    name: ownName,
    sidecar: restartPolicy === "Always",
    ...present("containerID", textOf(containerID)),
    ready: ready === true,
    ...parseResources(resources),
    ...present("otherResources", otherResources(objectOf(resources))),
    ...present("appliedLimitCPU", cpuOf(objectOf(applied).limits)),
    ...present(
      "appliedRequestCPU",
      cpuOf(allocatedResources) ?? cpuOf(objectOf(applied).requests),
    ),
    ...present("appliedLimitMemory", memoryBoundOf(objectOf(applied).limits)),
    restartsOnCPU: restartsOn(resizePolicy, "cpu"),
    ...(restartsOn(resizePolicy, "memory") ? { restartsOnMemory: true } : {}),
    ...(keepAllocated && allocatedResources !== undefined
      ? { allocated: parseResources({ requests: allocatedResources }) }
      : {}),
    ...present("startedAtMs", startedAt(objectOf(status))),
    ...present("restartedAtMs", restartedAt(objectOf(status))),
    ...present("oomKilledAtMs", oomKilledAt(objectOf(status))),
    ...(isCrashLooping(objectOf(status)) ? { crashLooping: true } : {}),
    ...present("limitManagers", limitManagers),
  };
}

function restartsOn(resizePolicy: unknown, resource: "cpu" | "memory"): boolean {
  return listOf(resizePolicy).some((policy) => {
    const { resourceName, restartPolicy } = objectOf(policy);
    return resourceName === resource && restartPolicy === "RestartContainer";
  });
}

/** CPU and memory of a `resources` member. Throws a `SyntaxError` for a bad quantity. */
export function parseResources(raw: unknown): Resources {
  const { requests, limits } = objectOf(raw);
  return {
    ...present("requestCPU", cpuOf(requests)),
    ...present("limitCPU", cpuOf(limits)),
    ...present("requestMemory", memoryOf(requests)),
    ...present("limitMemory", memoryOf(limits)),
  };
}

/** Names only, and only where there are any: most containers have none. */
function otherResources({ requests, limits }: JSONObject): readonly string[] | undefined {
  const names = (prefix: string, list: unknown): string[] =>
    Object.keys(objectOf(list)).filter((name) => name !== "cpu" && name !== "memory")
      .map((name) => `${prefix}.${name}`);
  const all = [...names("requests", requests), ...names("limits", limits)];
  return all.length === 0 ? undefined : all;
}

/** When the present run began. */
function startedAt({ state }: JSONObject): number | undefined {
  return parseTime(objectOf(objectOf(state).running).startedAt);
}

/** When the container was last started again; while it waits for that, when it ended. */
function restartedAt({ restartCount, state, lastState }: JSONObject): number | undefined {
  if ((wholeOf(restartCount) ?? 0) === 0) return undefined;
  const { running, terminated } = objectOf(state);
  return parseTime(objectOf(running).startedAt) ?? parseTime(objectOf(terminated).finishedAt) ??
    parseTime(objectOf(objectOf(lastState).terminated).finishedAt);
}

/** The later one of both ends that the kubelet still knows of, where memory was the reason. */
function oomKilledAt({ state, lastState }: JSONObject): number | undefined {
  const ends = [state, lastState].flatMap((one) => {
    const { reason, finishedAt } = objectOf(objectOf(one).terminated);
    return reason === "OOMKilled" ? parseTime(finishedAt) ?? [] : [];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/**
 * A kubelet says that it waits (`CrashLoopBackOff`) only with its next look at the pod: one of 1.36
 * showed a container that had crashed for the fourth time as just ended, for most of the wait.
 */
function isCrashLooping({ restartCount, state }: JSONObject): boolean {
  const { waiting, terminated } = objectOf(state);
  if (objectOf(waiting).reason === "CrashLoopBackOff") return true;
  const exitCode = wholeOf(objectOf(terminated).exitCode) ?? 0;
  return exitCode !== 0 && (wholeOf(restartCount) ?? 0) >= 2;
}
