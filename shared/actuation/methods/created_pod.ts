/**
 * A pod that is about to be made, as an admission review has it.
 *
 * @module
 */
import type { Pod, PodContainer, Resources } from "../../api/pod.ts";
import { parseBytes, parseCPU } from "../../quantity.ts";
import type { Subject } from "../../rightsizing/guards/subjects.ts";
import { qosClassOfPod } from "../qos.ts";

/** Members of an object that was sent. */
export type Members = Readonly<Record<string, unknown>>;

/** What was sent, and what it comes to. */
export interface CreatedPod {
  /** Raw, in their order, and first among those of the subject. */
  readonly containers: readonly Members[];
  /** Sidecars stand behind the containers, as in any pod that is read. */
  readonly subject: Subject;
}

/** Reads a pod, raw as an admission review has it. Throws a `TypeError` or `SyntaxError` where it can't be read. */
export function readCreatedPod(pod: unknown): CreatedPod {
  const spec = isObject(pod) ? pod.spec : undefined;
  if (!isObject(spec) || !Array.isArray(spec.containers)) {
    throw new TypeError("Cannot read a new pod: it has no spec.containers");
  }
  const containers = spec.containers.filter(isObject);
  if (containers.length < spec.containers.length) {
    throw new TypeError("Cannot read a new pod: an item of spec.containers is no object");
  }
  const inits = Array.isArray(spec.initContainers) ? spec.initContainers.filter(isObject) : [];
  const podLevel = readResources(spec.resources);
  const started = inits.map((one) => ({
    ...readContainer(one),
    sidecar: one.restartPolicy === "Always",
  }));
  const read: Pick<Pod, "containers" | "initContainers" | "podLevel"> = {
    containers: [...containers.map(readContainer), ...started.filter(({ sidecar }) => sidecar)],
    initContainers: started.flatMap((one, index) => {
      const sidecarsBefore = started.slice(0, index).filter(({ sidecar }) => sidecar).length;
      return one.sidecar ? [] : [{ ...one, sidecarsBefore }];
    }),
    ...(Object.keys(podLevel).length === 0 ? {} : { podLevel }),
  };
  const qosClass = qosClassOfPod(read);
  const subject = { ...read, name: "the pod", qosClass, marketLimits: false, count: 1 };
  return { containers, subject };
}

function readContainer({ name, resources }: Members): PodContainer {
  if (typeof name !== "string") {
    throw new TypeError("Cannot read a new pod: a container has no name");
  }
  const read = readResources(resources);
  // As the server makes it of a limit alone.
  const { requestCPU = read.limitCPU, requestMemory = read.limitMemory } = read;
  return {
    name,
    sidecar: false,
    ready: false,
    restartsOnCPU: false,
    ...read,
    ...(requestCPU === undefined ? {} : { requestCPU }),
    ...(requestMemory === undefined ? {} : { requestMemory }),
  };
}

/** Requests and limits as they are written. Throws a `SyntaxError` for a quantity that is none. */
export function readResources(raw: unknown): Resources {
  const { requests, limits } = isObject(raw) ? raw : {};
  const values = [
    ["requestCPU", requests, "cpu", parseCPU],
    ["requestMemory", requests, "memory", parseBytes],
    ["limitCPU", limits, "cpu", parseCPU],
    ["limitMemory", limits, "memory", parseBytes],
  ] as const;
  return Object.fromEntries(values.flatMap(([field, side, name, parse]) => {
    const quantity = isObject(side) ? side[name] : undefined;
    // JSON lets a quantity be a number, too.
    return quantity === undefined || quantity === null ? [] : [[field, parse(String(quantity))]];
  }));
}

/** True for what has members by name. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
