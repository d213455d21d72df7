/**
 * The objects of a node that no machine stands behind.
 *
 * @module
 */
import { formatMicroTime } from "../../../../adapters/kube/kinds/object_fields.ts";
import type { NodeClass } from "../../../../shared/placement/node_classes.ts";

/** What the node is to be. */
export interface SimulatedNode {
  /** Unique among those that there are. */
  readonly name: string;
  readonly class: NodeClass;
  /** Pods of one scene run on its own nodes alone. */
  readonly scene: string;
  /** How many pods have room. @default {110} */
  readonly pods?: number;
}

/** Label of all of them, by which those of an interrupted run are found. */
export const SIMULATED = "try.mbcas.io/simulated";
/** Label and taint with the scene: no other pods come here, and a scene's pods go nowhere else. */
export const SCENE = "try.mbcas.io/scene";

/** How long kubelets' Leases hold, s. */
const LEASE_SECONDS = 40;

/**
 * The node's name in the cluster: after the names that real nodes have, as tests take the first one for
 * the real one.
 */
export function simulatedName({ name }: Pick<SimulatedNode, "name">): string {
  return `z-${name}`;
}

/** What of a pod lets it run on a scene's nodes, and on these alone. */
export function sceneBounds(scene: string): Record<string, unknown> {
  return {
    nodeSelector: { [SCENE]: scene },
    tolerations: [
      { key: SIMULATED, operator: "Exists" },
      // No test waits for it.
      ...["unreachable", "not-ready"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 0,
      })),
    ],
  };
}

/**
 * The Node. It has no label with an operating system, without which no DaemonSet of the product wants a
 * pod there.
 */
export function nodeObject(node: SimulatedNode): object {
  const name = simulatedName(node);
  return {
    metadata: {
      name,
      labels: {
        [SIMULATED]: "true",
        [SCENE]: node.scene,
        "karpenter.sh/capacity-type": node.class,
        "kubernetes.io/hostname": name,
      },
    },
    spec: { taints: [{ key: SIMULATED, effect: "NoSchedule" }] },
  };
}

/** What its kubelet says of it. */
export function nodeStatus({ pods = 110 }: SimulatedNode, nowMs: number): object {
  const room = { cpu: "32", memory: "64Gi", pods: String(pods) };
  return { capacity: room, allocatable: room, conditions: [readyCondition("True", nowMs)] };
}

/** Whether the node is ready; `Unknown` says that it is silent. */
export function readyCondition(status: "True" | "Unknown", nowMs: number): object {
  const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const reason = status === "True" ? "KubeletReady" : "NodeStatusUnknown";
  return { type: "Ready", status, reason, lastHeartbeatTime: at, lastTransitionTime: at };
}

/** The Lease by which its kubelet says that it lives. It goes with the node. */
export function nodeLease(
  { name, uid }: { readonly name: string; readonly uid: string },
  nowMs: number,
): object {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name,
      namespace: "kube-node-lease",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, ...renewal(nowMs) },
  };
}

/** The part of a Lease that each sign of life changes. */
export function renewal(nowMs: number): { readonly renewTime: string } {
  return { renewTime: formatMicroTime(nowMs) };
}
