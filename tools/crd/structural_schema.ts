/**
 * From a zod schema to the structural OpenAPI schema that a CustomResourceDefinition takes.
 *
 * @module
 */
import { z } from "zod";

/** A value of JSON. */
export type JSONValue =
  | null
  | boolean
  | number
  | string
  | readonly JSONValue[]
  | { readonly [key: string]: JSONValue };

/** A schema as it stands in a manifest. */
export type StructuralSchema = { readonly [key: string]: JSONValue };

/**
 * The structural schema of what `schema` accepts. Descriptions and `x-kubernetes-…` extensions come
 * from the schema's `.meta()`. Throws what zod throws for a type without an OpenAPI form, such as a
 * date or a transform.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const plain = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override({ jsonSchema }) {
      // The server prunes unknown fields by itself, and refuses `false` beside `properties`; of a map
      // this is the schema of its values.
      const { additionalProperties: others } = jsonSchema;
      if (typeof others !== "object" || Object.keys(others).length === 0) {
        delete jsonSchema.additionalProperties;
      }
      // It takes its two types for granted, and no bounds of theirs.
      if (jsonSchema["x-kubernetes-int-or-string"] === true) delete jsonSchema.anyOf;
    },
  });
  return JSON.parse(JSON.stringify(plain));
}
