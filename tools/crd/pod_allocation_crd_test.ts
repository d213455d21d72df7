import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { podAllocationCRD } from "./pod_allocation_crd.ts";
import type { JSONValue } from "./structural_schema.ts";

/** The value at a path of keys and indices; undefined where there is none. */
function at(value: JSONValue | undefined, path: string): JSONValue | undefined {
  let found: unknown = value;
  for (const key of path.split("/")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found as JSONValue | undefined;
}

/** Every schema of a field, with its path. */
function fields(schema: JSONValue | undefined, path: string): [string, JSONValue][] {
  const below = at(schema, "properties") ?? at(schema, "items/properties") ?? {};
  return Object.entries(below as object).flatMap(([name, field]) => [
    [`${path}.${name}`, field],
    ...fields(field, `${path}.${name}`),
  ]);
}

const version = at(podAllocationCRD(), "spec/versions/0");
const schema = at(version, "schema/openAPIV3Schema");

pure("podAllocationCRD() describes each field of spec and status", () => {
  const described = fields(schema, "").filter(([path]) => path !== ".metadata");
  assert.ok(described.length > 30, `${described.length} fields`);
  for (const [path, field] of described) {
    assert.equal(typeof at(field, "description"), "string", `${path} has no description`);
  }
});

pure("podAllocationCRD() bounds each list, so that rules over it have a bounded cost", () => {
  const lists = fields(schema, "").filter(([, field]) => at(field, "type") === "array");
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
  for (const field of ["podName", "podUID", "nodeName", "namespace"]) {
    assert.deepEqual(
      at(schema, `properties/spec/properties/${field}/x-kubernetes-validations/0`),
      { rule: "self == oldSelf", message: `${field} is immutable` },
    );
  }
});

pure("podAllocationCRD() shows six columns, four more when asked for wide ones", () => {
  const columns = at(version, "additionalPrinterColumns") as {
    name: string;
    priority?: number;
  }[];
  const named = (priority?: number): string[] =>
    columns.filter((column) => column.priority === priority).map(({ name }) => name);
  assert.deepEqual(named(), ["Pod", "Desired", "Applied", "Phase", "Reason", "Age"]);
  assert.deepEqual(named(1), ["Node", "Mode", "Price", "Demand"]);
});

pure("podAllocationCRD() lets agents ask for the allocations of one node", () => {
  assert.deepEqual(at(version, "selectableFields"), [
    { jsonPath: ".spec.nodeName" },
    { jsonPath: ".spec.podName" },
  ]);
  assert.deepEqual(at(version, "subresources"), { status: {} });
});
