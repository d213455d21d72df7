/**
 * The small world of placement on the simulated API: its objects are written there each second, and
 * what the API was asked to change comes back.
 *
 * @module
 */
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { DELETION_COST, type SplitSpec } from "../../shared/placement/split.ts";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import type { ObjectTable } from "../../lab/simulation/api/object_store.ts";
import type { SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { sampleNode, samplePod } from "../contract/support/sample_objects.ts";
import { sampleWorkload } from "../fixtures/sample_workloads.ts";
import type { PlacementWorld, WorldNode, WorldPod } from "./placement_world.ts";

/** Of all objects. */
export const NAMESPACE = "shop";
/** Of the workload. */
export const WORKLOAD_UID = "w1";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";

/** A pod that was evicted. */
export interface KnownEviction {
  readonly uid: string;
  readonly why: "move" | "stranded" | "departs" | "drained";
  /** As it was until then. */
  readonly ready: boolean;
}

/**
 * So long something may be known that holds no more, ms: copies are late, and a look that lasts evicts
 * one pod after the other, each there and back.
 */
const KNOWN_MS = 60_000;

/** Keeps both alike. */
export class PlacementMirror {
  readonly #world: PlacementWorld;
  readonly #store: SimulatedAPI["store"];
  readonly #nodeNames = new Map<WorldNode, string>();
  /** What was written last, by key. */
  readonly #written = new WeakMap<object, Map<string, string>>();
  /** When a node was last shown as about to go, and a pod as without one. */
  readonly #shownAtMs = new Map<WorldNode | WorldPod, number>();

  constructor(world: PlacementWorld, store: SimulatedAPI["store"]) {
    this.#world = world;
    this.#store = store;
    const { Namespace } = store.tables;
    Namespace.create({ metadata: { ...NEW, name: NAMESPACE, labels: {}, annotations: {} } });
  }

  /** The world as it is, to the API. */
  write(spec: SplitSpec): void {
    const { Node, Pod, ReplicaSet, PodDisruptionBudget, Deployment, StatefulSet } =
      this.#store.tables;
    const { workload, nodes, pods, departing, draining, nowMs } = this.#world;
    for (const node of [...departing, ...draining]) this.#shownAtMs.set(node, nowMs);
    for (const pod of pods) if (pod.node === undefined) this.#shownAtMs.set(pod, nowMs);
    this.#bring(Node, nodes.map((node) => this.#node(node)));
    if (workload.kind === "Deployment") {
      const revisions = new Set(pods.flatMap(({ foreign, revision }) => foreign ? [] : [revision]));
      revisions.add(`r${workload.revision}`);
      this.#bring(
        ReplicaSet,
        [...revisions].map((revision) => ({
          metadata: {
            ...NEW,
            namespace: NAMESPACE,
            name: `web-${revision}`,
            uid: `rs-${revision}`,
          },
          deployment: { name: "web", uid: WORKLOAD_UID },
        })),
      );
    }
    this.#bring(Pod, pods.map((pod) => this.#pod(pod)));
    this.#bring(workload.kind === "Deployment" ? Deployment : StatefulSet, [this.#workload(spec)]);
    const allowed = this.#world.disruptionsAllowed();
    if (allowed === undefined) return;
    // Others count evictions down in between: it is written whatever was written last.
    this.#written.delete(PodDisruptionBudget);
    this.#bring(PodDisruptionBudget, [{
      metadata: { ...NEW, namespace: NAMESPACE, name: "web" },
      selector: { matchLabels: { own: "true" }, matchExpressions: [] },
      disruptionsAllowed: allowed,
      current: true,
      freesUnready: false,
    }]);
  }

  /**
   * What the API was asked for, to the world. Returns the pods that were evicted; `moved` has the UIDs
   * of those that were sent as moves.
   */
  read(moved: ReadonlySet<string>): readonly KnownEviction[] {
    const { Pod } = this.#store.tables;
    const evicted: KnownEviction[] = [];
    for (const pod of [...this.#world.pods]) {
      const stored = Pod.get(`${NAMESPACE}/${pod.name}`);
      const isGone = stored?.metadata.uid !== pod.uid || stored.metadata.terminating;
      if (isGone && pod.endsAtMs === undefined) {
        const why = this.#causeOf(pod, moved.has(pod.uid));
        evicted.push({ uid: pod.uid, why, ready: this.#world.isReady(pod) });
        this.#world.remove(pod.uid);
      }
      const cost = stored?.metadata.annotations[DELETION_COST];
      if (cost !== undefined) pod.deletionCost = Number(cost);
    }
    return evicted;
  }

  /** What was known, though it may hold no more; a pod without such a cause was moved. */
  #causeOf(pod: WorldPod, isMove: boolean): KnownEviction["why"] {
    const isKnown = (shown: WorldNode | WorldPod | undefined): boolean =>
      shown !== undefined &&
      this.#world.nowMs - (this.#shownAtMs.get(shown) ?? -Infinity) < KNOWN_MS;
    // One by one, as moves.
    if (isMove) return isKnown(pod.node) ? "drained" : "move";
    if (isKnown(pod)) return "stranded";
    return isKnown(pod.node) ? "departs" : "move";
  }

  #bring<T extends ApiObject>(table: ObjectTable<T>, objects: readonly T[]): void {
    const wanted = new Map(objects.map((one) => [objectKey(one.metadata), one] as const));
    for (const { metadata } of table.all()) {
      const key = objectKey(metadata);
      const uid = wanted.get(key)?.metadata.uid;
      // Of the same name and another UID: one that was made anew.
      if (uid === undefined || (uid !== "" && uid !== metadata.uid)) table.remove(key);
    }
    const written = this.#written.get(table) ?? new Map<string, string>();
    this.#written.set(table, written);
    for (const [key, object] of wanted) {
      const text = JSON.stringify(object);
      const isThere = table.get(key) !== undefined;
      if (isThere && written.get(key) === text) continue;
      written.set(key, text);
      if (isThere) table.modify(key, () => object);
      else table.seed(object);
    }
  }

  #nameOf(node: WorldNode): string {
    const name = this.#nodeNames.get(node) ?? `node-${this.#nodeNames.size}`;
    this.#nodeNames.set(node, name);
    return name;
  }

  #node(node: WorldNode): Node {
    const { departing, draining } = this.#world;
    const keys = [
      ...(departing.has(node) ? ["aws-node-termination-handler/spot-itn"] : []),
      ...(draining.has(node) ? ["karpenter.sh/disrupted"] : []),
    ];
    return {
      ...sampleNode(this.#nameOf(node)),
      labels: { [CAPACITY_TYPE]: node.class },
      ...(keys.length === 0
        ? {}
        : { taints: keys.map((key) => ({ key, value: "", effect: "NoSchedule" })) }),
    };
  }

  #pod(pod: WorldPod): Pod {
    const { name, uid, revision, node, madeFor, unschedulableSinceMs, deletionCost } = pod;
    const { kind } = this.#world.workload;
    const isReady = this.#world.isReady(pod);
    const sample = samplePod(name, {
      namespace: NAMESPACE,
      nodeName: node ? this.#nameOf(node) : "",
    });
    const hash = kind === "Deployment" ? "pod-template-hash" : "controller-revision-hash";
    const owner = kind === "Deployment"
      ? { kind: "ReplicaSet", name: `web-${revision}`, uid: `rs-${revision}` }
      : { kind: "StatefulSet", name: "web", uid: WORKLOAD_UID };
    return {
      ...sample,
      metadata: {
        ...sample.metadata,
        uid,
        labels: { app: "web", [hash]: revision, ...(pod.foreign ? {} : { own: "true" }) },
        annotations: deletionCost === undefined ? {} : { [DELETION_COST]: String(deletionCost) },
        terminating: pod.endsAtMs !== undefined,
        // Of the same name as ours, and another object.
        owner: { apiVersion: "apps/v1", ...owner, ...(pod.foreign ? { uid: "others" } : {}) },
      },
      phase: isReady ? "Running" : "Pending",
      ready: isReady,
      createdAtMs: pod.createdAtMs,
      ...(madeFor === undefined ? {} : { nodeSelector: selectorFor(madeFor) }),
      ...(unschedulableSinceMs === undefined ? {} : { unschedulableSinceMs }),
    };
  }

  #workload({ spotPercentage, minOnDemand }: SplitSpec): Workload {
    const { kind, replicas, ...counts } = this.#world.status;
    const sample = sampleWorkload({
      kind,
      labels: { "spotalis.io/enabled": "true" },
      annotations: {
        "spotalis.io/spot-percentage": `${spotPercentage}%`,
        "spotalis.io/min-on-demand": `${minOnDemand}`,
      },
    });
    return {
      ...sample,
      metadata: { ...sample.metadata, uid: WORKLOAD_UID },
      replicas: { wanted: replicas, ...counts },
    };
  }
}

const NEW = { uid: "", resourceVersion: "" } as const;

function selectorFor(one: NodeClass): Readonly<Record<string, string>> {
  return { [CAPACITY_TYPE]: one };
}
