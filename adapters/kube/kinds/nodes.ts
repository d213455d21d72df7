/**
 * Nodes on a real API server, and PersistentVolumes, which may be reached from some nodes only.
 *
 * @module
 */
import {
  type Node,
  NODE_PRESSURES,
  type NodeSelector,
  nodeTermsOf,
  type PersistentVolume,
} from "../../../shared/api/node.ts";
import { mapDefined } from "../../../shared/defined.ts";
import { type KubeConnection, resourcePath } from "../client/connection.ts";
import { present, someOf } from "../client/json_fields.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";
import {
  cpuBoundOf,
  mapOf,
  memoryBoundOf,
  parseIdentity,
  parseTime,
  trueCondition,
} from "./object_fields.ts";
import type { RawNode, RawObject } from "./raw_objects.ts";

const NODES = { groupVersion: "v1", resource: "nodes" };

/** Taints of node autoscalers on a node that they will remove. */
const REMOVAL_TAINTS: readonly string[] = [
  "ToBeDeletedByClusterAutoscaler",
  "karpenter.sh/disrupted",
];
/** The taint that the node controller sets on a cordoned node, with the time. */
const CORDON_TAINT = "node.kubernetes.io/unschedulable";

/** List-watch of nodes. */
export const nodeListWatch: OpenListWatch<Node> = listWatchOf({ ...NODES, parse: parseNode });

/**
 * Reads one node from the server's cache, which is moments old at most: thousands of agents read their
 * nodes a few times a minute, without a load on etcd. Throws an `ApiError`.
 */
export async function readNode(connection: KubeConnection, name: string): Promise<Node> {
  const query = { resourceVersion: "0" };
  return parseNode(await connection.request({ path: nodePath(name), query }));
}

/** The node's own path. */
export function nodePath(name: string): string {
  return resourcePath({ ...NODES, name });
}

/** Projects a node. */
export function parseNode(raw: unknown): Node {
  const { metadata, spec = {}, status = {} } = raw as RawNode;
  const { conditions = [], allocatable, nodeInfo } = status;
  const { taints = [], unschedulable = false } = spec;
  const cordon = taints.find(({ key }) => key === CORDON_TAINT);
  const os = metadata.labels?.["kubernetes.io/os"];
  const alarms = conditions.filter((condition) =>
    condition.status === "True" && condition.type !== "Ready" &&
    !NODE_PRESSURES.some((type) => type === condition.type)
  );
  return {
    metadata: parseIdentity(raw),
    // Absent on a node that has just joined.
    allocatableCPU: cpuBoundOf(allocatable) ?? 0,
    ...present("allocatableMemory", memoryBoundOf(allocatable)),
    ready: trueCondition(conditions, "Ready") !== undefined,
    pressures: NODE_PRESSURES.filter((type) => trueCondition(conditions, type) !== undefined),
    ...(taints.some(({ key }) => REMOVAL_TAINTS.includes(key)) ? { draining: true } : {}),
    ...(unschedulable ? present("cordonedAtMs", parseTime(cordon?.timeAdded)) : {}),
    ...mapOf("labels", metadata.labels),
    ...(unschedulable ? { cordoned: true } : {}),
    ...someOf("taints", taints.map(({ key, value = "", effect }) => ({ key, value, effect }))),
    ...someOf("alarms", alarms.map(({ type }) => type)),
    ...(os === undefined || os === "linux" ? {} : { os }),
    ...present("kubeletVersion", nodeInfo?.kubeletVersion),
  };
}

/** List-watch of volumes. */
export const persistentVolumeListWatch: OpenListWatch<PersistentVolume> = listWatchOf({
  groupVersion: "v1",
  resource: "persistentvolumes",
  parse: parsePersistentVolume,
});

type RawVolume = RawObject<{
  claimRef?: { namespace: string; name: string };
  nodeAffinity?: { required?: NodeSelector };
}, { phase?: string }>;

/** Projects a volume. */
export function parsePersistentVolume(raw: unknown): PersistentVolume {
  const { spec: { claimRef, nodeAffinity }, status } = raw as RawVolume;
  // A released volume still names its claim, and another claim may have the same name.
  const isReleased = status?.phase === "Released";
  const claim = claimRef === undefined || isReleased
    ? undefined
    : `${claimRef.namespace}/${claimRef.name}`;
  return {
    metadata: parseIdentity(raw),
    ...present("claim", claim),
    ...present("nodes", mapDefined(nodeAffinity?.required, nodeTermsOf)),
  };
}
