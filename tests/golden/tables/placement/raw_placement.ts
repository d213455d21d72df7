/**
 * Objects of the API for the tables of placement: nodes, a workload and its pods.
 *
 * @module
 */
import { parseNode } from "../../../../adapters/kube/kinds/nodes.ts";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import { parseReplicaSet, parseWorkload } from "../../../../adapters/kube/kinds/workloads.ts";
import type { Node } from "../../../../shared/api/node.ts";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { ReplicaSet, Workload } from "../../../../shared/api/workload.ts";
import { rawMetadata, wholePod } from "../raw_pod.ts";

/** Annotations of the workload without their prefix, `spotalis.io/`. */
export type PlacementAnnotations = Readonly<Record<string, string>>;

/** One input of the table of moves. Absent members are as usual, or are not there. */
export interface MoveInput {
  readonly kind: "Deployment" | "StatefulSet";
  readonly namespace?: string;
  readonly namespaceLabels?: PlacementAnnotations;
  readonly annotations: PlacementAnnotations;
  /**
   * Pods by number: `spot` or `on-demand`, the class of its node, and what else there is to say:
   * `cordoned`,
   * `drained`, `interrupted` (its node is about to go), `unready`, `protected` (by an annotation),
   * `old` (of another revision), `pending` (it has no node).
   */
  readonly pods: readonly string[];
  /** `spec.replicas`; as many as there are pods where absent. */
  readonly replicas?: number;
  /** Fields of the workload's `status` that do not describe these pods. */
  readonly status?: Readonly<Record<string, number>>;
  /** `status.disruptionsAllowed` of a PodDisruptionBudget for the pods. */
  readonly disruptionsAllowed?: number;
  /** Setting `namespaceSelector`: `team=shop`. */
  readonly selectsTeam?: true;
  readonly shortageEndsInS?: number;
  readonly lastMoveSecondsAgo?: number;
  /** Moves in a row that have not helped. */
  readonly vainMoves?: number;
  /** Until the cluster may evict one more pod. */
  readonly evictionInMs?: number;
}

/** When a row is decided. */
export const NOW_MS: number = Date.UTC(2026, 0, 1);

const TAINTS: Readonly<Record<string, string>> = {
  drained: "karpenter.sh/disrupted",
  interrupted: "aws-node-termination-handler/spot-itn",
};

/** Annotations with their prefix, of a workload that takes part. */
export function placementAnnotations(
  annotations: PlacementAnnotations,
): Readonly<Record<string, string>> {
  const all = Object.entries({ enabled: "true", ...annotations });
  return Object.fromEntries(all.map(([key, text]) => [`spotalis.io/${key}`, text]));
}

/** The nodes of a row: one for each pod. */
export function nodesOf({ pods }: Pick<MoveInput, "pods">): readonly Node[] {
  return pods.map((traits, index) => {
    const [capacity = ""] = traits.split(" ");
    const key = Object.keys(TAINTS).find((trait) => traits.includes(trait));
    return parseNode({
      metadata: rawMetadata(`node-${index}`, {
        labels: { "karpenter.sh/capacity-type": capacity },
      }),
      spec: {
        ...(traits.includes("cordoned") ? { unschedulable: true } : {}),
        ...(key === undefined ? {} : { taints: [{ key: TAINTS[key], effect: "NoSchedule" }] }),
      },
      status: { allocatable: { cpu: "8" }, conditions: [{ type: "Ready", status: "True" }] },
    });
  });
}

/** Pods `web-0` and so on, each a second younger than the one before. */
export function placementPods({ kind, pods }: Pick<MoveInput, "kind" | "pods">): readonly Pod[] {
  const owner = kind === "Deployment"
    ? { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-new", uid: "uid-web-new" }
    : { apiVersion: "apps/v1", kind, name: "web", uid: "uid-web" };
  return pods.map((traits, index) => {
    const [capacity = ""] = traits.split(" ");
    const isPending = traits.includes("pending");
    const isReady = !isPending && !traits.includes("unready");
    const hash = traits.includes("old") ? "old" : "new";
    return parsePod(wholePod({
      metadata: {
        labels: {
          app: "web",
          [kind === "Deployment" ? "pod-template-hash" : "controller-revision-hash"]: hash,
        },
        annotations: traits.includes("protected") ? { "karpenter.sh/do-not-disrupt": "true" } : {},
        creationTimestamp: timeText(NOW_MS - 3_600_000 + 1000 * index),
      },
      spec: {
        containers: [{ name: "app", resources: { requests: { cpu: "100m" } } }],
        nodeName: isPending ? "" : `node-${index}`,
        ...(isPending ? { nodeSelector: { "karpenter.sh/capacity-type": capacity } } : {}),
      },
      status: {
        ...(isPending ? { phase: "Pending" } : {}),
        conditions: [
          { type: "Ready", status: isReady ? "True" : "False" },
          ...(isPending
            ? [{
              type: "PodScheduled",
              status: "False",
              reason: "Unschedulable",
              lastTransitionTime: timeText(NOW_MS - 90_000),
            }]
            : []),
        ],
      },
    }, { name: `web-${index}`, owner: { ...owner, controller: true } }));
  });
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/** The ReplicaSet between a Deployment and its pods. */
export function replicaSetOf(): ReplicaSet {
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "uid-web" };
  return parseReplicaSet({
    metadata: rawMetadata("web-new", { ownerReferences: [{ ...owner, controller: true }] }),
  });
}

/** The workload, with all of its pods counted in its status. */
export function placementWorkload(input: MoveInput, pods: readonly Pod[]): Workload {
  const { kind, namespace, annotations, status, replicas = pods.length } = input;
  return parseWorkload({
    metadata: rawMetadata("web", {
      ...(namespace === undefined ? {} : { namespace }),
      generation: 3,
      labels: { app: "web" },
      annotations: placementAnnotations(annotations),
    }),
    spec: { replicas, template: { spec: { containers: [{ name: "app" }] } } },
    status: {
      observedGeneration: 3,
      replicas: pods.length,
      readyReplicas: pods.filter(({ ready }) => ready).length,
      updatedReplicas: pods.length,
      ...status,
    },
  }, kind);
}
