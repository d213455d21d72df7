/**
 * What replicas of the webhook ask the one that counts, and what that answers. Both are small: nothing
 * of a pod's containers leaves the replica which was asked.
 *
 * @module
 */
import * as z from "zod";
import type { AdmissionRequest, SentObject } from "../admission/admission_review.ts";
import { membersOf, textIn, textsIn } from "../admission/sent_members.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import type { NodeClass } from "./node_class.ts";
import { revisionOf } from "./placed_pod.ts";

const text = z.string().min(1).max(600);
const nodeClass = z.enum(["spot", "on-demand"]);

/** Whoever has more claims is left alone: a question stays small. */
const MOST_CLAIMS = 64;

const questionSchema = z.object({
  id: text,
  namespace: text,
  owner: z.object({ apiVersion: text, kind: text, name: text, uid: text }),
  revision: z.string().max(600),
  pod: z.object({
    uid: text.optional(),
    name: text.optional(),
    generateName: text.optional(),
  }),
  told: z.object({ class: nodeClass, deletionCost: z.int().optional() }).optional(),
  bound: z.literal(true).optional(),
  only: nodeClass.optional(),
  claims: z.array(text).max(MOST_CLAIMS).optional(),
  dryRun: z.boolean(),
});

/** One pod that is being made. */
export interface PlacementQuestion {
  /** Of the request: no other question has it. */
  readonly id: string;
  readonly namespace: string;
  /** The pod's controller. */
  readonly owner: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly revision: string;
  /** See `AwaitedPod`. */
  readonly pod: {
    readonly uid?: string | undefined;
    readonly name?: string | undefined;
    readonly generateName?: string | undefined;
  };
  /**
   * What the pod says that it was told: servers ask again about a pod that another webhook has changed
   * since, and many pods have neither name nor UID then by which one could know them.
   */
  readonly told?:
    | { readonly class: NodeClass; readonly deletionCost?: number | undefined }
    | undefined;
  /** True where the pod itself names its class, or could be sent to neither. */
  readonly bound?: true | undefined;
  /** The one class of which its affinity names hosts. */
  readonly only?: NodeClass | undefined;
  /** Names of the claims of its volumes; absent where it has none. */
  readonly claims?: readonly string[] | undefined;
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
  "LeaderSilent",
  "Failed",
] as const;

/** A word of {@linkcode UNPLACED_REASONS}. */
export type UnplacedReason = typeof UNPLACED_REASONS[number];

/** Where the pod goes; or why it is left, with what its author is to be told. */
export type PlacementVerdict =
  | { readonly class: NodeClass; readonly deletionCost?: number | undefined }
  | { readonly unplaced: UnplacedReason; readonly warning?: string | undefined };

const verdictSchema = z.union([
  z.object({ class: nodeClass, deletionCost: z.int().optional() }),
  z.object({ unplaced: z.enum(UNPLACED_REASONS), warning: z.string().max(10_000).optional() }),
]);

/** The question about a pod; undefined where it has no controller, or is not being made. */
export function placementQuestion(
  { uid: id, resource, operation, namespace, dryRun, object }: AdmissionRequest,
): PlacementQuestion | undefined {
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
  const told = toldOf(labels[CAPACITY], textsIn(annotations)[DELETION_COST]);
  const claims = claimsOf(object);
  return {
    id,
    namespace,
    owner,
    revision: revisionOf(labels),
    pod: present({
      uid: textIn(uid),
      name: textIn(name),
      generateName: textIn(generateName),
    }),
    ...(told === undefined ? {} : { told }),
    ...(claims.length > MOST_CLAIMS ? { bound: true } : claims.length > 0 ? { claims } : {}),
    dryRun,
  };
}

/** The question in this text. Throws a `TypeError` or `SyntaxError` that repeats nothing of it. */
export function parsePlacementQuestion(body: string): PlacementQuestion {
  return read(body, { schema: questionSchema, what: "a question of placement" });
}

/** The verdict in this text. Throws as {@linkcode parsePlacementQuestion} does. */
export function parsePlacementVerdict(body: string): PlacementVerdict {
  return read(body, { schema: verdictSchema, what: "an answer of placement" });
}

function claimsOf({ spec }: SentObject): readonly string[] {
  const { volumes } = membersOf(spec);
  const sent = Array.isArray(volumes) ? volumes.map(membersOf) : [];
  return sent.flatMap(({ persistentVolumeClaim }) =>
    textIn(membersOf(persistentVolumeClaim)["claimName"]) ?? []
  );
}

function toldOf(capacity: string | undefined, cost: string | undefined): PlacementQuestion["told"] {
  if (capacity !== "spot" && capacity !== "on-demand") return undefined;
  const deletionCost = cost !== undefined && /^-?\d{1,10}$/.test(cost) ? Number(cost) : undefined;
  return { class: capacity, ...(deletionCost === undefined ? {} : { deletionCost }) };
}

function present(pod: PlacementQuestion["pod"]): PlacementQuestion["pod"] {
  return Object.fromEntries(Object.entries(pod).filter(([, value]) => value !== undefined));
}

function read<T>(
  body: string,
  { schema, what }: { readonly schema: z.ZodType<T>; readonly what: string },
): T {
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    throw new SyntaxError(`Cannot read ${what}: ${body.length} characters that are no JSON`);
  }
  const { success, data, error } = schema.safeParse(raw);
  if (success) return data;
  const [issue] = error.issues;
  throw new TypeError(`Cannot read ${what}: ${issue?.path.join(".")}: ${issue?.code}`);
}
