/**
 * The `AdmissionReview` of `admission.k8s.io/v1`: the request of an API server, and the answer of a webhook.
 *
 * @module
 */
import { isMembers, membersOf } from "../members.ts";
import type { JSONPatchOperation } from "./json_patch.ts";

/** An object of the API as it was sent: readers must check every field. */
export type SentObject = Readonly<Record<string, unknown>>;

/** The operation of an admission request, and its object. */
export interface AdmissionRequest {
  /** Identifies this request; the answer repeats it. */
  readonly uid: string;
  /** For instance `Pod`. */
  readonly kind: string;
  /** Plural, with the subresource where it is about one: `pods`, `pods/resize`. */
  readonly resource: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** Empty for objects of the whole cluster. */
  readonly namespace: string;
  /** Empty where the server makes the name later, as for most pods that controllers create. */
  readonly name: string;
  /** True when nothing will be stored: then nothing may be remembered either. */
  readonly dryRun: boolean;
  /** As it is about to be stored; absent for a DELETE. Its `metadata.namespace` may be empty. */
  readonly object?: SentObject;
}

/** The operations that an API server sends. */
const OPERATIONS: readonly unknown[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/** The request of a review, as API servers write it: null stands for an absent field. */
interface SentRequest {
  readonly uid: string;
  readonly kind: { readonly kind: string };
  readonly resource: { readonly resource: string };
  readonly subResource?: string | null;
  readonly operation: AdmissionRequest["operation"];
  readonly namespace?: string | null;
  readonly name?: string | null;
  readonly dryRun?: boolean | null;
  readonly object?: unknown;
}

/**
 * The request in this text. Throws a `SyntaxError` for text that is not JSON, and a `TypeError` for JSON
 * without the fields that each review has.
 */
export function parseAdmissionReview(text: string): AdmissionRequest {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    // The engine's message repeats parts of the body, which may hold anything.
    throw new SyntaxError(
      `Cannot read an admission review: ${text.length} characters that are not JSON`,
    );
  }
  const request = membersOf(membersOf(review)["request"]) as Partial<SentRequest>;
  const { uid, kind, resource, subResource, operation, namespace, name, dryRun, object } = request;
  // Any client may reach the port, and the operation is a label of metrics.
  if (!uid || !kind?.kind || !resource?.resource || !operation || !OPERATIONS.includes(operation)) {
    throw new TypeError(
      "Cannot read an admission review: its uid, kind, resource or operation is missing or unknown",
    );
  }
  return {
    uid,
    kind: kind.kind,
    resource: subResource ? `${resource.resource}/${subResource}` : resource.resource,
    operation,
    namespace: namespace ?? "",
    name: name ?? "",
    dryRun: dryRun ?? false,
    ...(isMembers(object) ? { object } : {}),
  };
}

/**
 * The `AdmissionReview` that lets the object pass, with this patch as JSON in base64. Nothing is ever
 * refused here. API servers cut long warnings, and show equal ones once.
 */
export function admissionAnswer(
  uid: string,
  { patch, warnings }: {
    readonly patch: readonly JSONPatchOperation[];
    readonly warnings: readonly string[];
  },
): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: {
    readonly uid: string;
    readonly allowed: true;
    readonly patchType?: string;
    readonly patch?: string;
    readonly warnings?: readonly string[];
  };
} {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: {
      uid,
      allowed: true,
      ...(patch.length === 0 ? {} : { patchType: "JSONPatch", patch: base64(patch) }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

function base64(patch: readonly JSONPatchOperation[]): string {
  return new TextEncoder().encode(JSON.stringify(patch)).toBase64();
}
