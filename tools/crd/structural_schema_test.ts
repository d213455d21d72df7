import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { z } from "zod";
import { type JSONValue, structuralSchema } from "./structural_schema.ts";

/** All keys in a value that stand for keywords, not for the names of fields. */
function keywords(value: JSONValue): string[] {
  if (Array.isArray(value)) return value.flatMap(keywords);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === "properties" ? Object.values(child as object).flatMap(keywords) : [
      key,
      ...keywords(child),
    ]
  );
}

pure("structuralSchema() keeps bounds, patterns, descriptions and extensions", () => {
  const schema = z.object({
    size: z.int().min(1).max(9).describe("How large."),
    names: z.array(z.string().regex(/^a/)).max(3).optional().meta({
      "x-kubernetes-list-type": "set",
    }),
  });
  assert.deepEqual(structuralSchema(schema), {
    type: "object",
    properties: {
      size: { type: "integer", minimum: 1, maximum: 9, description: "How large." },
      names: {
        type: "array",
        maxItems: 3,
        items: { type: "string", pattern: "^a" },
        "x-kubernetes-list-type": "set",
      },
    },
    required: ["size"],
  });
});

pure("structuralSchema() drops keywords that a server refuses, never fields of such a name", () => {
  const name = fc.constantFrom("additionalProperties", "$schema", "properties", "size");
  fc.assert(fc.property(name, name, (outer, inner) => {
    const schema = structuralSchema(z.object({ [outer]: z.object({ [inner]: z.string() }) }));
    assert.deepEqual(
      keywords(schema).filter((key) => key === "additionalProperties" || key === "$schema"),
      [],
    );
    assert.deepEqual(schema, {
      type: "object",
      required: [outer],
      properties: {
        [outer]: {
          type: "object",
          required: [inner],
          properties: { [inner]: { type: "string" } },
        },
      },
    });
  }));
});

pure("structuralSchema() refuses a type that OpenAPI can't express", () => {
  assert.throws(() => structuralSchema(z.object({ at: z.date() })), /Date /);
});

pure(
  "structuralSchema() keeps what the values of a map are, and no bounds of an int-or-string",
  () => {
    const schema = z.object({
      labels: z.record(z.string().max(9), z.string().max(5)).meta({ maxProperties: 3 }),
      size: z.union([z.int(), z.string().max(5)]).meta({ "x-kubernetes-int-or-string": true }),
      either: z.union([z.int().min(1).max(2), z.boolean()]),
    });
    assert.deepEqual(structuralSchema(schema), {
      type: "object",
      properties: {
        labels: {
          type: "object",
          additionalProperties: { type: "string", maxLength: 5 },
          maxProperties: 3,
        },
        size: { "x-kubernetes-int-or-string": true },
        either: { anyOf: [{ type: "integer", minimum: 1, maximum: 2 }, { type: "boolean" }] },
      },
      required: ["labels", "size", "either"],
    });
  },
);
