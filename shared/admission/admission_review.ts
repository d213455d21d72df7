/**
 * The `AdmissionReview` of `admission.k8s.io/v1`: the request of an API server, and the answer of a webhook.
 *
 * @module
 */
import * as z from "zod";
import { faultsOf, faultText } from "../api/fields.ts";
import type { JSONPatchOperation } from "./json_patch.ts";

/** An object of the API as it was sent: readers must check every field. */
export type SentObject = Readonly<Record<string, unknown>>;

/** The operation of an admission request, and its object. */
export interface AdmissionRequest {
  /** Identifies this request; the answer repeats it. */
  readonly uid: string;
  /** For instance `Pod`. */
  readonly kind: string;
  /** Plural, with the subresource of the request, if any: `pods`, `pods/resize`. */
  readonly resource: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** Empty for objects of the whole cluster. */
  readonly namespace: string;
  /** Empty where the server generates the name later, as for most pods that controllers create. */
  readonly name: string;
  /** True when nothing will be stored, so that the webhook must not store anything either. */
  readonly dryRun: boolean;
  /** As it is about to be stored; absent for a DELETE. Its `metadata.namespace` may be empty. */
  readonly object?: SentObject;
}

const sentObject = z.custom<SentObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { error: "must be an object" },
);

const reviewSchema = z.object({
  apiVersion: z.literal("admission.k8s.io/v1"),
  kind: z.literal("AdmissionReview"),
  request: z.object({
    // A UUID today; the answer repeats it, so it may not be endless.
    uid: z.string().min(1).max(128),
    kind: z.object({ kind: z.string().min(1) }),
    resource: z.object({ resource: z.string().min(1) }),
    subResource: z.string().nullish(),
    operation: z.enum(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    namespace: z.string().nullish(),
    name: z.string().nullish(),
    dryRun: z.boolean().nullish(),
    object: sentObject.nullish(),
  }),
});

/**
 * The request in this text. Throws a `SyntaxError` for text that is not JSON, and a `TypeError` that
 * names the field with its value for JSON that is not such a review.
 */
export function parseAdmissionReview(text: string): AdmissionRequest {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    // The engine's message repeats parts of the body, which may hold anything.
    throw new SyntaxError(
      `Cannot read an admission review: ${text.length} characters that are not JSON`,
    );
  }
  const { success, data, error } = reviewSchema.safeParse(raw);
  if (!success) {
    const [first] = faultsOf(error, { raw, root: "the body" });
    const fault = first === undefined ? "" : faultText(first).replace(/^the body\./, "");
    throw new TypeError(`Cannot read an admission review: ${fault}`);
  }
  const { uid, kind, resource, subResource, operation, ...rest } = data.request;
  const { namespace, name, dryRun, object } = rest;
  return {
    uid,
    kind: kind.kind,
    resource: [resource.resource, subResource ?? ""].filter((part) => part !== "").join("/"),
    operation,
    namespace: namespace ?? "",
    name: name ?? "",
    dryRun: dryRun ?? false,
    ...(object ? { object } : {}),
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
