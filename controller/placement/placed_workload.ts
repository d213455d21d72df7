/**
 * A workload and its pods, as placement looks at them: from the copies to plain facts.
 *
 * @module
 */
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import {
  boundBy,
  HOSTNAME,
  type NodeBounds,
  protectedBy,
} from "../../shared/placement/bound_pod.ts";
import { DELETION_COST } from "../../shared/placement/deletion_cost.ts";
import type { MovedWorkload } from "../../shared/placement/next_move.ts";
import { type NodeClass, otherClass } from "../../shared/placement/node_class.ts";
import { nodeClassOf } from "../../shared/placement/node_classes.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";
import { podStanding } from "../../shared/placement/pod_standing.ts";
import type { GateSubject } from "../../shared/placement/placement_gate.ts";
import { budgetRefusal, type PodBudget } from "../../shared/placement/pod_budget.ts";
import { podsOwnedBy } from "../allocation/caches.ts";
import type { PlacementCaches } from "./placement_copies.ts";
import type { PlacementConfig } from "./placement_config.ts";

/** How pods are looked at. */
export interface PodLook {
  readonly caches: PlacementCaches;
  readonly config: Pick<PlacementConfig, "classes" | "departures">;
  /** UIDs of pods that were evicted, whatever a late copy shows. */
  readonly evicted: { has(uid: string): boolean };
}

/** Who is asked about at the gate. */
export function gateSubject(
  { kind, metadata: { namespace, labels = {}, annotations } }: Workload,
  { namespaces }: Pick<PlacementCaches, "namespaces">,
): GateSubject {
  const words = namespaces.get(namespace)?.metadata;
  return { kind, labels, annotations, namespace: { name: namespace, words } };
}

/** The workload as its status tells; undefined for a kind or a status that can't be read. */
export function movedWorkload({ kind, replicas }: Workload): MovedWorkload | undefined {
  if (kind === "DaemonSet" || replicas === undefined) return undefined;
  const { wanted, ...counts } = replicas;
  return { kind, replicas: wanted, ...counts };
}

/** A workload, as far as it owns pods. */
export interface OwningWorkload {
  readonly kind: string;
  readonly metadata: Pick<Workload["metadata"], "uid" | "namespace">;
}

/** Pods indexed by owner, and ReplicaSets by their Deployment. */
export interface OwnedCopies<P extends Pick<Pod, "metadata">> {
  readonly pods: Pick<Informer<P>, "byIndex">;
  readonly replicaSets: Pick<PlacementCaches["replicaSets"], "byIndex">;
}

/** Its pods by the chain of controllers, each link by UID; labels alone make no pod anybody's. */
export function podsOfWorkload<P extends Pick<Pod, "metadata">>(
  { kind, metadata: { uid, namespace } }: OwningWorkload,
  { pods, replicaSets }: OwnedCopies<P>,
): readonly P[] {
  const owners = kind === "Deployment"
    ? replicaSets.byIndex(uid).map(({ metadata }) => metadata.uid)
    : [uid];
  return owners.flatMap((owner) => podsOwnedBy(pods, owner))
    .filter(({ metadata }) => metadata.namespace === namespace);
}

/** All its pods, also those that are gone, without a word of budgets. */
export function placedPodsOf(workload: Workload, look: PodLook): readonly PlacedPod[] {
  return podsOfWorkload(workload, look.caches).map((pod) => placedPod(pod, look));
}

/**
 * The pods with what budgets say of each. Namespaces may have a budget for each workload: it is asked for
 * only when one is about to go.
 */
export function withBudgets(
  placed: readonly PlacedPod[],
  { workload, caches }: Pick<PodLook, "caches"> & { readonly workload: Workload },
): readonly PlacedPod[] {
  const budgets = caches.budgets.byIndex(workload.metadata.namespace).map((one): PodBudget => ({
    ...one,
    name: one.metadata.name,
  }));
  const labelsOf = new Map(
    podsOfWorkload(workload, caches).map(({ metadata: { uid, labels } }) => [uid, labels] as const),
  );
  return placed.map((pod) => {
    const { uid, ready } = pod;
    const budget = budgetRefusal({ labels: labelsOf.get(uid) ?? {}, ready }, budgets);
    return budget === undefined ? pod : { ...pod, budget };
  });
}

function placedPod(
  pod: Pod,
  { caches, config, evicted }: PodLook,
): PlacedPod {
  const { metadata: { uid, annotations }, nodeName, ready } = pod;
  const node = nodeName === "" ? undefined : caches.nodes.get(nodeName);
  const { classes, departures } = config;
  const standing = podStanding(pod, { node, classes, departures, evicted: evicted.has(uid) });
  // Whoever loses its node has nothing to lose by another class.
  const bound = standing.departs === undefined
    ? boundOf(pod, { caches, config, to: otherClass(standing.class) })
    : protectedBy(annotations);
  const cost = Number(annotations[DELETION_COST] ?? NaN);
  return {
    ...standing,
    ...(nodeName !== "" || pod.unschedulableSinceMs === undefined
      ? {}
      : { unschedulableSinceMs: pod.unschedulableSinceMs }),
    ready,
    cordoned: node?.cordoned === true,
    createdAtMs: pod.createdAtMs ?? 0,
    ...(bound === undefined ? {} : { bound }),
    ...(Number.isInteger(cost) ? { deletionCost: cost } : {}),
  };
}

function boundOf(
  { requiredNodes, claims = [], metadata: { namespace, annotations } }: Pod,
  { caches, config: { classes }, to }: Pick<PodLook, "caches" | "config"> & {
    readonly to: NodeClass;
  },
): string | undefined {
  const bounds: NodeBounds[] = [];
  if (requiredNodes !== undefined) bounds.push({ what: "its affinity", terms: requiredNodes });
  for (const claim of claims) {
    for (const { nodes } of caches.volumes.byIndex(`${namespace}/${claim}`)) {
      if (nodes !== undefined) bounds.push({ what: `its volume ${claim}`, terms: nodes });
    }
  }
  const asksForHosts = bounds.some(({ terms }) =>
    terms.some((term) => term.some(({ key }) => key === HOSTNAME))
  );
  // Few pods do, and all nodes are many.
  const hosts = asksForHosts
    ? new Map([...caches.nodes.all()].flatMap((node) => hostsOf(node, classes)))
    : new Map<string, NodeClass>();
  return boundBy({ annotations, bounds }, { to, classes, hosts });
}

function hostsOf(
  { metadata: { name }, labels = {} }: Node,
  classes: PlacementConfig["classes"],
): (readonly [string, NodeClass])[] {
  const one = nodeClassOf(labels, classes);
  return [[name, one], [labels[HOSTNAME] ?? name, one]];
}
