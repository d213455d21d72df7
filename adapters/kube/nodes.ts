/**
 * Nodes on a real API server.
 *
 * @module
 */
import { type Node, NODE_PRESSURES, type NodeTaint } from "../../shared/api/node.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import {
  type JSONObject,
  listOf,
  memberOf,
  objectOf,
  present,
  someOf,
  textOf,
  textsOf,
} from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseTime } from "./micro_time.ts";
import { parseIdentity } from "./object_identity.ts";
import { type PartialObject, readOrTell } from "./partial_object.ts";
import { cpuOf, memoryBoundOf } from "./quantity_fields.ts";
import { holds } from "./resize_condition_fields.ts";

const PATH = "/api/v1/nodes";
/** Taints by which node autoscalers say that a node will be removed. */
const REMOVAL_TAINTS: readonly string[] = [
  "ToBeDeletedByClusterAutoscaler",
  "karpenter.sh/disrupted",
];
/** The taint that the node controller gives a cordoned node, with the time. */
const CORDON_TAINT = "node.kubernetes.io/unschedulable";

/** List-watch of all nodes. */
export function nodeListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<Node> {
  return kubeListWatch(connection, { ...options, path: PATH, parse: parseNode });
}

/**
 * One node as the server's cache has it, moments old at most: each of thousands of agents asks a few
 * times a minute, and none of it need reach etcd. Throws an `ApiError`, or a `TypeError` for a node that
 * can't be read.
 */
export async function readNode(connection: KubeConnection, name: string): Promise<Node> {
  const query = { resourceVersion: "0" };
  const node = parseNode(await connection.request({ path: nodePath(name), query }));
  if (node.unreadable !== undefined) throw new TypeError(node.unreadable);
  return node;
}

/** The node's own path. */
export function nodePath(name: string): string {
  return `${PATH}/${pathPart(name)}`;
}

/** The trimmed node, or why its CPU can't be read. Throws a `TypeError` without identity. */
export function parseNode(raw: unknown): Node {
  const { conditions, nodeInfo } = objectOf(objectOf(raw).status);
  const { unschedulable, taints } = objectOf(objectOf(raw).spec);
  const { labels } = objectOf(objectOf(raw).metadata);
  const { name, uid, resourceVersion } = parseIdentity(raw);
  const os = textOf(objectOf(labels)["kubernetes.io/os"]);
  const tainted = listOf(taints).map(objectOf);
  const leaves = tainted.some(({ key }) => REMOVAL_TAINTS.includes(textOf(key) ?? ""));
  const cordon = tainted.find(({ key }) => key === CORDON_TAINT);
  const blank: Node = {
    metadata: { name, uid, resourceVersion },
    allocatableCPU: 0,
    ready: holds(conditions, "Ready"),
    pressures: NODE_PRESSURES.filter((type) => holds(conditions, type)),
    ...(leaves ? { draining: true } : {}),
    ...(unschedulable === true ? present("cordonedAtMs", parseTime(cordon?.timeAdded)) : {}),
    ...(Object.keys(textsOf(labels)).length === 0 ? {} : { labels: textsOf(labels) }),
    ...(unschedulable === true ? { cordoned: true } : {}),
    ...someOf("taints", tainted.flatMap(parseTaint)),
    ...someOf("alarms", alarmsOf(conditions)),
    ...(os === undefined || os === "linux" ? {} : { os }),
    ...present("kubeletVersion", textOf(objectOf(nodeInfo).kubeletVersion)),
  };
  const read = (): Node => {
    const { allocatable } = memberOf(objectOf(raw), "status");
    // A node that has just joined has not told yet.
    return { ...blank, allocatableCPU: cpuOf(allocatable) ?? 0, ...memoryFor(allocatable) };
  };
  return readOrTell(read, blank);
}

function parseTaint({ key, value, effect }: JSONObject): NodeTaint[] {
  const name = textOf(key);
  if (name === undefined) return [];
  return [{ key: name, value: textOf(value) ?? "", effect: textOf(effect) ?? "" }];
}

/** Those that say something beyond the fields for readiness and pressures. */
function alarmsOf(conditions: unknown): string[] {
  return listOf(conditions).map(objectOf).flatMap(({ type, status }) => {
    const name = textOf(type);
    const isKnown = name === "Ready" || NODE_PRESSURES.some((one) => one === name);
    return name === undefined || isKnown || status !== "True" ? [] : [name];
  });
}

/** The market takes no part in memory: a node whose memory can't be read is one that does not tell. */
function memoryFor(allocatable: unknown): Pick<Node, "allocatableMemory"> {
  const { unreadable: _why, ...memory } = readOrTell<PartialObject & Partial<Node>>(
    () => present("allocatableMemory", memoryBoundOf(allocatable)),
    {},
  );
  return memory;
}
