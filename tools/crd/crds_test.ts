/** The definitions of PodAllocation, OptimizationPolicy and RecommendationReport. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { z } from "zod";
import { auditedChangeSchema } from "../../shared/audit_log.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  type JSONValue,
  optimizationPolicyCRD,
  podAllocationCRD,
  recommendationReportCRD,
  structuralSchema,
} from "./definitions.ts";

/** The value at a path of keys and indices; undefined where there is none. */
function at(value: JSONValue | undefined, path: string): JSONValue | undefined {
  let found: unknown = value;
  for (const key of path.split("/")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found as JSONValue | undefined;
}

/** Every schema of a field, with its path; items and values of maps as well. */
function fields(schema: JSONValue | undefined, path = ""): [string, JSONValue][] {
  const below = at(schema, "properties") ?? at(schema, "items/properties") ?? {};
  return Object.entries(below as object).flatMap(([name, field]) => [
    [`${path}.${name}`, field],
    ...fields(field, `${path}.${name}`),
  ]);
}

const schemaOf = (crd: JSONValue) => at(crd, "spec/versions/0/schema/openAPIV3Schema");
const CRDS = { allocation: podAllocationCRD(), policy: optimizationPolicyCRD() };
const REPORT = recommendationReportCRD();
const allocation = schemaOf(CRDS.allocation);
const spec = at(schemaOf(CRDS.policy), "properties/spec");

/** A field of a policy's spec. */
function field(path: string): JSONValue | undefined {
  return at(spec, `properties/${path.split(".").join("/properties/")}`);
}

pure("definitions describe each field, and times by their format", () => {
  for (const [crd, least] of [[CRDS.allocation, 30], [CRDS.policy, 60], [REPORT, 20]] as const) {
    const described = fields(schemaOf(crd)).filter(([path]) => path !== ".metadata");
    assert.ok(described.length > least, `${described.length} fields`);
    for (const [path, one] of described) {
      assert.equal(typeof at(one, "description"), "string", `${path} has no description`);
      const isTime = /\.(\w+Time|clearedAt|at|last(Recommendation|Applied|Reconciliation))$/;
      assert.equal(at(one, "format") === "date-time", isTime.test(path), path);
    }
  }
});

pure("definitions take any reason in CamelCase, and conditions by the API's conventions", () => {
  for (const crd of [CRDS.allocation, CRDS.policy, REPORT]) {
    for (const [path, one] of fields(schemaOf(crd))) {
      if (/\.(reason|conditions\.type)$/.test(path) && path !== ".status.bounds.reason") {
        assert.equal(at(one, "pattern"), "^[A-Z][A-Za-z0-9]*$", path);
        assert.equal(at(one, "enum"), undefined, path);
      }
    }
  }
  for (const crd of [CRDS.allocation, CRDS.policy]) {
    const path = "properties/status/properties/conditions/items/properties/status/enum";
    assert.deepEqual(at(schemaOf(crd), path), ["True", "False", "Unknown"]);
  }
});

pure("podAllocationCRD() bounds each list, so that rules over it have a bounded cost", () => {
  const lists = fields(allocation).filter(([, field]) => at(field, "type") === "array");
  assert.ok(lists.length >= 5, `${lists.length} lists`);
  for (const [path, list] of lists) {
    // Conditions are one of each type; rules are published as a whole; other lists are of containers.
    const [most, keys] = path.endsWith(".conditions")
      ? [8, ["type"]]
      : [128, path.endsWith(".rules") ? undefined : ["name"]];
    assert.equal(at(list, "maxItems"), most, path);
    assert.deepEqual(at(list, "x-kubernetes-list-map-keys"), keys, path);
  }
});

pure("podAllocationCRD() makes the pod's identity immutable", () => {
  for (const name of ["podName", "podUID", "nodeName", "namespace"]) {
    const rule = `properties/spec/properties/${name}/x-kubernetes-validations/0`;
    const message = `${name} is immutable`;
    assert.deepEqual(at(allocation, rule), { rule: "self == oldSelf", message });
  }
});

pure("optimizationPolicyCRD() bounds lists, maps and texts, and so the cost of rules", () => {
  const bounded = fields(spec).filter(([, one]) =>
    ["array", "string"].includes(String(at(one, "type"))) || at(one, "additionalProperties")
  );
  assert.ok(bounded.length > 15);
  for (const [path, one] of bounded) {
    const bound = at(one, "maxItems") ?? at(one, "maxLength") ?? at(one, "maxProperties") ??
      at(one, "enum");
    assert.ok(bound !== undefined, path);
  }
  assert.equal(at(field("resourceBounds.cpu.min"), "maxLength"), 64);
});

pure("optimizationPolicyCRD() takes quantities as text and as numbers, as OptiPod does", () => {
  for (const bound of ["cpu.min", "cpu.max", "memory.min", "memory.max"]) {
    const quantity = field(`resourceBounds.${bound}`);
    assert.equal(at(quantity, "x-kubernetes-int-or-string"), true);
    // Both are refused beside it.
    assert.deepEqual([at(quantity, "type"), at(quantity, "anyOf")], [undefined, undefined]);
  }
});

pure("optimizationPolicyCRD() has a message for each rule that its author can follow", () => {
  const rules = [["", spec] as const, ...fields(spec)].flatMap(([path, one]) => {
    const own = (at(one, "x-kubernetes-validations") ?? []) as { message: string }[];
    return own.map(({ message }) => [path.slice(1), message] as const);
  });
  const messages = (path: string) => rules.filter(([one]) => one === path).map(([, text]) => text);
  for (const [path, message] of rules) assert.match(message, /^must /, path);
  const [duration = "", most = "", least = "", ...others] = messages("reconciliationInterval");
  assert.match(duration, /duration/);
  assert.match(most, /most 100000d$/);
  assert.match(least, /least 10s$/);
  assert.deepEqual(others, []);
  assert.match(messages("metricsConfig.rollingWindow").join(), /must be above 0/);
  for (
    const path of [
      "selector",
      "metricsConfig",
      "resourceBounds.cpu",
      "resourceBounds.memory.max",
      "updateStrategy.cooldown",
      "selector.workloadSelector.matchLabels",
    ]
  ) {
    assert.ok(messages(path).length > 0, path);
  }
});

pure("recommendationReportCRD() keeps workloads as a whole, without records of fields", () => {
  assert.equal(at(schemaOf(REPORT), "properties/workloads/x-kubernetes-list-type"), "atomic");
});

pure("the price has one unit: per core, in the definition and in the audit log", () => {
  const texts = [JSON.stringify(CRDS.allocation), auditedChangeSchema.shape.price.description];
  assert.deepEqual(texts.map((text) => /price per (\w+)/gi.exec(text ?? "")?.[1]), [
    "core",
    "core",
  ]);
  assert.ok(!texts.some((text) => /per millicore/i.test(text ?? "")));
});

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
        [outer]: { type: "object", required: [inner], properties: { [inner]: { type: "string" } } },
      },
    });
  }));
});

pure("structuralSchema() refuses a type that OpenAPI can't express", () => {
  assert.throws(() => structuralSchema(z.object({ at: z.date() })), /Date /);
});

pure("structuralSchema() keeps the values of a map, and no bounds of an int-or-string", () => {
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
});
