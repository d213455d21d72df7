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

/** What JSON Schema says and a structural schema may not. */
const FOREIGN: readonly string[] = ["$schema", "propertyNames"];

/**
 * The structural schema of what `schema` accepts. Descriptions and `x-kubernetes-…` extensions come
 * from the schema's `.meta()`. Throws what zod throws for a type without an OpenAPI form, such as a
 * date or a transform.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const plain: { [key: string]: JSONValue } = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" })),
  );
  return withoutForeign(plain);
}

function withoutForeign(schema: StructuralSchema): StructuralSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !FOREIGN.includes(key) && !isForeign(key, { value, schema }))
      .map(([key, value]) => [key, key === "properties" ? eachField(value) : cleaned(value)]),
  );
}

/**
 * The server prunes unknown fields by itself, and refuses `additionalProperties: false` beside
 * `properties`; of a map they are the schema of its values. An int-or-string takes its two types for
 * granted, and no bounds of theirs.
 */
function isForeign(
  key: string,
  { value, schema }: { readonly value: JSONValue; readonly schema: StructuralSchema },
): boolean {
  if (key === "additionalProperties") return !isSchema(value) || Object.keys(value).length === 0;
  return key === "anyOf" && schema["x-kubernetes-int-or-string"] === true;
}

/** Below `properties` the keys are names of fields, whatever they are called. */
function eachField(fields: JSONValue): JSONValue {
  if (!isSchema(fields)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, cleaned(field)]),
  );
}

function cleaned(value: JSONValue): JSONValue {
  if (isSchema(value)) return withoutForeign(value);
  return isList(value) ? value.map(cleaned) : value;
}

function isList(value: JSONValue): value is readonly JSONValue[] {
  return Array.isArray(value);
}

function isSchema(value: JSONValue): value is StructuralSchema {
  return typeof value === "object" && value !== null && !isList(value);
}
