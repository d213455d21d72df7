/**
 * A pod that is being created, read from its admission request, and the decision about it.
 *
 * @module
 */
import type { AdmissionRequest, SentObject } from "../admission/admission_review.ts";
import { membersOf, textIn, textsIn } from "../admission/sent_members.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import type { NodeClass } from "./node_classes.ts";
import { revisionOf } from "./placed_pod.ts";
import type { AwaitedPod } from "./reservations.ts";

/** A pod that is being created. */
export interface PlacementRequest {
  readonly namespace: string;
  /** The pod's controller. */
  readonly owner: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly revision: string;
  readonly pod: AwaitedPod;
  /**
   * The decision that the pod carries: a server asks again if another webhook has changed the pod since,
   * and many pods have neither name nor UID by then.
   */
  readonly decided?: { readonly class: NodeClass; readonly deletionCost?: number };
  /** True if the pod names its class itself, or can run on neither. */
  readonly pinned?: true;
  /** The only class of the hosts in its affinity. */
  readonly only?: NodeClass;
  /** The claims of its volumes; absent if there are none. */
  readonly claims?: readonly string[];
  /** True if nothing will be stored. */
  readonly dryRun: boolean;
}

/** Why a pod is not placed; also labels of metrics. */
export const UNPLACED_REASONS = [
  "NotPlaced",
  "ConfigurationError",
  "NodesBound",
  "NotSynced",
  "CopyBehind",
  "NoLeader",
  "LeaderUnsettled",
  "TimedOut",
  "Failed",
] as const;

/** One of {@linkcode UNPLACED_REASONS}. */
export type UnplacedReason = typeof UNPLACED_REASONS[number];

/** The pod's class; or why it is not placed, with a warning for the client. */
export type PlacementDecision =
  | { readonly class: NodeClass; readonly deletionCost?: number }
  | { readonly unplaced: UnplacedReason; readonly warning?: string };

/** The pod of a request; undefined if it has no controller, or is not being created. */
export function placementRequest(
  { resource, operation, namespace, dryRun, object }: AdmissionRequest,
): PlacementRequest | undefined {
  if (resource !== "pods" || operation !== "CREATE" || object === undefined) return undefined;
  const metadata = membersOf(object["metadata"]);
  const { ownerReferences } = metadata;
  const owners = Array.isArray(ownerReferences) ? ownerReferences.map(membersOf) : [];
  const controller = owners.find((one) => one["controller"] === true) ?? {};
  const owner = {
    apiVersion: textIn(controller["apiVersion"]) ?? "",
    kind: textIn(controller["kind"]) ?? "",
    name: textIn(controller["name"]) ?? "",
    uid: textIn(controller["uid"]) ?? "",
  };
  if (Object.values(owner).includes("")) return undefined;
  const labels = textsIn(metadata["labels"]);
  const cost = textsIn(metadata["annotations"])[DELETION_COST];
  const claims = claimsOf(object);
  return {
    namespace,
    owner,
    revision: revisionOf(labels),
    pod: {
      ...present("uid", textIn(metadata["uid"])),
      ...present("name", textIn(metadata["name"])),
      ...present("generateName", textIn(metadata["generateName"])),
    },
    ...present("decided", decisionIn(labels[CAPACITY], cost)),
    ...(claims.length === 0 ? {} : { claims }),
    dryRun,
  };
}

function claimsOf({ spec }: SentObject): readonly string[] {
  const { volumes } = membersOf(spec);
  const sent = Array.isArray(volumes) ? volumes.map(membersOf) : [];
  return sent.flatMap(({ persistentVolumeClaim }) =>
    textIn(membersOf(persistentVolumeClaim)["claimName"]) ?? []
  );
}

function decisionIn(
  capacity: string | undefined,
  cost: string | undefined,
): PlacementRequest["decided"] {
  if (capacity !== "spot" && capacity !== "on-demand") return undefined;
  const deletionCost = cost !== undefined && /^-?\d{1,10}$/.test(cost) ? Number(cost) : undefined;
  return { class: capacity, ...present("deletionCost", deletionCost) };
}

/** A member, unless the value is undefined. */
function present<K extends string, V>(
  name: K,
  value: V | undefined,
): { readonly [name in K]?: V } {
  return value === undefined ? {} : { [name]: value } as { readonly [name in K]?: V };
}
