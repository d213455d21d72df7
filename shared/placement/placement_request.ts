/**
 * A pod that is being created, as placement sees it, and what is decided about it.
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

/** One pod that is being created. */
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
   * The decision that the pod carries already: servers ask again about a pod that another webhook has
   * changed since, and many pods have neither name nor UID then by which to know them.
   */
  readonly decided?: { readonly class: NodeClass; readonly deletionCost?: number };
  /** True where the pod itself names its class, or could be sent to neither. */
  readonly pinned?: true;
  /** The one class of which its affinity names hosts. */
  readonly only?: NodeClass;
  /** Names of the claims of its volumes; absent where it has none. */
  readonly claims?: readonly string[];
  /** True where nothing will be stored. */
  readonly dryRun: boolean;
}

/** Why a pod is left as it was sent; labels of metrics, too. */
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

/** A word of {@linkcode UNPLACED_REASONS}. */
export type UnplacedReason = typeof UNPLACED_REASONS[number];

/** Where the pod goes; or why it is left, with a warning for its author. */
export type PlacementDecision =
  | { readonly class: NodeClass; readonly deletionCost?: number }
  | { readonly unplaced: UnplacedReason; readonly warning?: string };

/** The pod of a request; undefined where it has no controller, or is not being created. */
export function placementRequest(
  { resource, operation, namespace, dryRun, object }: AdmissionRequest,
): PlacementRequest | undefined {
  if (resource !== "pods" || operation !== "CREATE" || object === undefined) return undefined;
  const { uid, name, generateName, labels: rawLabels, annotations, ownerReferences } = membersOf(
    object["metadata"],
  );
  const owners = Array.isArray(ownerReferences) ? ownerReferences.map(membersOf) : [];
  const controller = owners.find((one) => one["controller"] === true) ?? {};
  const owner = {
    apiVersion: textIn(controller["apiVersion"]) ?? "",
    kind: textIn(controller["kind"]) ?? "",
    name: textIn(controller["name"]) ?? "",
    uid: textIn(controller["uid"]) ?? "",
  };
  if (Object.values(owner).includes("")) return undefined;
  const labels = textsIn(rawLabels);
  const decided = decisionIn(labels[CAPACITY], textsIn(annotations)[DELETION_COST]);
  const claims = claimsOf(object);
  return {
    namespace,
    owner,
    revision: revisionOf(labels),
    pod: {
      ...present("uid", textIn(uid)),
      ...present("name", textIn(name)),
      ...present("generateName", textIn(generateName)),
    },
    ...present("decided", decided),
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

/** A member that is left out where there is no value. */
function present<K extends string, V>(
  name: K,
  value: V | undefined,
): { readonly [name in K]?: V } {
  return value === undefined ? {} : { [name]: value } as { readonly [name in K]?: V };
}
