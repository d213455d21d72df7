/**
 * What an API server asks of a webhook: an `AdmissionReview` of `admission.k8s.io/v1`.
 *
 * @module
 */
import * as z from "zod";
import { quotedText } from "../quoted_text.ts";

/** An object of the API as it was sent: readers must check every field. */
export type SentObject = Readonly<Record<string, unknown>>;

/** What is about to be done, and to what. */
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

const sentObject = z.custom<SentObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { error: "expected an object" },
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
 * The question in this text. Throws a `SyntaxError` for what is no JSON, and a `TypeError` that names
 * the field with its value for what is no such review.
 */
export function parseAdmissionReview(text: string): AdmissionRequest {
  const raw = parsed(text);
  const { success, data, error } = reviewSchema.safeParse(raw);
  if (!success) {
    const [issue] = error.issues;
    const path = issue?.path.map(String) ?? [];
    throw new TypeError(
      `Cannot read an admission review: ${path.join(".") || "the body"} is ${
        shown(valueAt(raw, path))
      }: ${issue?.message ?? "unknown"}`,
    );
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
    ...(object === undefined || object === null ? {} : { object }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's message repeats parts of the body, which may hold anything.
    throw new SyntaxError(
      `Cannot read an admission review: ${text.length} characters that are no JSON`,
    );
  }
}

function valueAt(raw: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as SentObject)[name]
        : undefined,
    raw,
  );
}

/** Values of the review's own fields only; of objects no more than that there is one. */
function shown(value: unknown): string {
  if (value === undefined) return "not there";
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : "an object";
  }
  return quotedText(String(value));
}
