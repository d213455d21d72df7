/**
 * Parts that all objects of the API share: identity, labels, times, reasons and conditions.
 *
 * @module
 */
import * as z from "zod";

/** Identity and version of an object, as a cache needs them. */
export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    /** Absent on cluster-scoped objects. */
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** An object of a namespaced kind. */
export interface NamespacedObject extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly namespace: string };
}

/** The values of a label or annotation that switches something on or off. */
export type SwitchValue = "true" | "false";

/** Labels or annotations, as an object has them. */
export type Texts = Readonly<Record<string, string>>;

/** The switch under the key; undefined where there is none, or another value. */
export function switchValue(texts: Texts, key: string): SwitchValue | undefined {
  const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
  return text === "true" || text === "false" ? text : undefined;
}

/** RFC 3339; the API server checks the format. */
export const timeSchema = z.string().meta({ format: "date-time" });

/**
 * A reason in CamelCase. Open: programs and definitions have different versions during an upgrade, and an
 * older definition must not refuse a newer reason.
 */
export const reasonSchema = z.string().max(128).regex(/^[A-Z][A-Za-z0-9]*$/);

/** `metav1.Condition`. */
const conditionSchema = z.object({
  type: reasonSchema.describe("Type of the condition, in CamelCase."),
  status: z.enum(["True", "False", "Unknown"]).describe("True, False or Unknown."),
  reason: reasonSchema.describe("The reason, in CamelCase."),
  message: z.string().max(32_768).describe("The reason as a sentence."),
  lastTransitionTime: timeSchema.describe("Time at which status last changed."),
  observedGeneration: z.int().min(0).optional().describe(
    "metadata.generation to which the condition belongs.",
  ),
});

/** A condition. */
export type Condition = z.infer<typeof conditionSchema>;

/** The conditions of an object, one of each type. */
export function conditionsSchema(description: string): z.ZodArray<typeof conditionSchema> {
  return z.array(conditionSchema).max(8).meta({
    description,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  });
}
