/**
 * A pod as a stand-in for its kubelet sees it, and what that has to do about it next.
 *
 * @module
 */
import { listOf, objectOf, textOf } from "../../../../adapters/kube/client/json_fields.ts";
import { parseNamespacedIdentity } from "../../../../adapters/kube/kinds/object_fields.ts";
import type { ApiObject } from "../../../../shared/api/object.ts";

/** The pod. */
export interface StandInPod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly namespace: string };
  /** Empty until it is bound. */
  readonly nodeName: string;
  readonly terminating: boolean;
  /** True once it was reported as running. */
  readonly running: boolean;
  /** Names and images of its containers. */
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** `start`: it runs from now on; `end`: it has ended, and its object goes. */
export type StandInStep = "start" | "end" | "nothing";

/** What is needed of a pod. Throws a `TypeError` without identity. */
export function parseStandInPod(raw: unknown): StandInPod {
  const { metadata, spec, status } = objectOf(raw);
  const { containers, nodeName } = objectOf(spec);
  return {
    metadata: parseNamespacedIdentity(raw),
    nodeName: textOf(nodeName) ?? "",
    terminating: objectOf(metadata).deletionTimestamp !== undefined,
    running: objectOf(status).phase === "Running",
    containers: listOf(containers).map(objectOf).map(({ name, image }) => ({
      name: textOf(name) ?? "",
      image: textOf(image) ?? "",
    })),
  };
}

/** What a kubelet does when nothing ever goes wrong and nothing takes time. */
export function standInStep({ nodeName, terminating, running }: StandInPod): StandInStep {
  if (nodeName === "") return "nothing";
  if (terminating) return "end";
  return running ? "nothing" : "start";
}

/** What a kubelet would say of the pod that runs since `atMs`, ms since 1970. */
export function runningStatus({ containers }: StandInPod, atMs: number): object {
  const at = new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    phase: "Running",
    startTime: at,
    conditions: ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"].map(
      (type) => ({ type, status: "True", lastTransitionTime: at }),
    ),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      containerID: `pretended://${name}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
