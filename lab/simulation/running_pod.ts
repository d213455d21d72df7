/**
 * A scene's pod as it runs already when an algorithm begins: on the node, and in the API.
 *
 * @module
 */
import type { Node } from "../../shared/api/node.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { qosClassOf } from "../../shared/resize/inputs/qos.ts";
import type { PodSpec } from "./node/simulated_node.ts";
import type { Scene, ScenePod } from "./scene.ts";

/** Where the scene takes place. */
export const SCENE_NODE = "node-1";

/** The scene's node as the API shows it. */
export function nodeInAPI({ cores }: Pick<Scene, "cores">): Node {
  return {
    metadata: { name: SCENE_NODE, uid: "", resourceVersion: "" },
    allocatableCPU: cores * 1000,
    ready: true,
    pressures: [],
  };
}

/** Namespace of the scene's pods. */
export const SCENE_NAMESPACE = "demo";

/** The id of a pod's only container: 64 hex digits made from its UID. */
export function sceneContainerID({ uid }: ScenePod): string {
  return uid.replaceAll("-", "").repeat(2);
}

/** The pod for the simulated node, with this limit in millicores. */
export function podOnNode(pod: ScenePod, limit: number): PodSpec {
  const { uid, request, threads, workload, giveUpMs = Infinity } = pod;
  const id = sceneContainerID(pod);
  return { uid, containers: [{ id, request, limit, threads, workload: workload(), giveUpMs }] };
}

/** The pod for the API: running under the original limit. */
export function podInAPI(pod: ScenePod): Pod {
  const container: PodContainer = {
    name: "app",
    sidecar: false,
    containerID: `containerd://${sceneContainerID(pod)}`,
    ready: true,
    requests: { cpu: pod.request },
    limits: { cpu: pod.originalLimit },
    applied: { requests: { cpu: pod.request }, limits: { cpu: pod.originalLimit } },
    restartsOnCPU: false,
  };
  return {
    metadata: {
      name: pod.name,
      namespace: SCENE_NAMESPACE,
      uid: pod.uid,
      resourceVersion: "",
      labels: {},
      annotations: {},
      terminating: false,
    },
    nodeName: SCENE_NODE,
    phase: "Running",
    qosClass: qosClassOf([container]),
    priority: pod.priority,
    ready: true,
    containers: [container],
    initContainers: [],
    resizeConditions: [],
  };
}
