import assert from "node:assert/strict";
import {
  fieldsSetBy,
  otherOwners,
  ownedFields,
  OWNS_NOTHING,
  type ResourceField,
} from "./owned_fields.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const resources = { "f:resources": { "f:requests": { "f:cpu": {}, "f:memory": {} } } };
const fieldsV1 = {
  "f:spec": {
    "f:template": {
      "f:spec": {
        "f:containers": {
          'k:{"name":"app"}': { ...resources, "f:image": {} },
          'k:{"name":"log"}': { "f:resources": { "f:limits": { "f:memory": {} } } },
          'k:{"name":"bare"}': { "f:image": {} },
          "k:{": resources,
          ".": {},
        },
        "f:initContainers": {
          'k:{"name":"proxy"}': { "f:resources": { "f:limits": { "f:cpu": {} } } },
        },
      },
    },
  },
};
const entry = { manager: "optipod", operation: "Apply", fieldsV1 };

test("ownedFields() reads what a manager has applied, of both lists", () => {
  assert.deepEqual(ownedFields([entry], "optipod"), {
    containers: new Map([
      ["app", new Set(["requests.cpu", "requests.memory"])],
      ["log", new Set(["limits.memory"])],
    ]),
    initContainers: new Map([["proxy", new Set(["limits.cpu"])]]),
  });
});

test("ownedFields() passes over other managers, updates, and what has no known shape", () => {
  for (
    const entries of [
      [{ ...entry, manager: "kubectl" }],
      [{ ...entry, operation: "Update" }],
      [{ ...entry, fieldsV1: "f:spec" }],
      [null, 7, {}],
      undefined,
      "text",
    ]
  ) {
    assert.deepEqual(ownedFields(entries, "optipod"), OWNS_NOTHING);
  }
});

test("fieldsSetBy() reads what a manager has set in whatever way, and when it last did", () => {
  const limits = { "f:resources": { "f:limits": { "f:cpu": {} } } };
  const spec = { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"app"}': limits } } } };
  const updated = {
    manager: "optipod",
    operation: "Update",
    time: "2026-01-01T00:00:07Z",
    fieldsV1: { "f:spec": spec },
  };
  const annotated = {
    ...updated,
    time: "2026-02-01T00:00:00Z",
    fieldsV1: { "f:metadata": { "f:annotations": {} } },
  };
  const applied = { ...entry, time: "2026-01-01T00:00:00Z" };
  const others = { ...updated, manager: "kubectl", time: "2026-03-01T00:00:00Z" };
  const set = fieldsSetBy([applied, updated, annotated, others], "optipod");
  assert.equal(set?.atMs, Date.UTC(2026, 0, 1, 0, 0, 7));
  assert.deepEqual([...set.fields.get("app") ?? []].sort(), [
    "limits.cpu",
    "requests.cpu",
    "requests.memory",
  ]);
  assert.equal(fieldsSetBy([{ ...updated, time: "soon" }], "optipod")?.atMs, 0);
  for (const entries of [[annotated, others], undefined, "text"]) {
    assert.equal(fieldsSetBy(entries, "optipod"), undefined);
  }
});

test("otherOwners() names who else has set these fields of these containers", () => {
  const fields = new Map([["app", new Set(["requests.cpu", "limits.memory"] as const)]]);
  const of = (...entries: readonly unknown[]) =>
    otherOwners(entries, { manager: "optipod", fields });
  const helm = { ...entry, manager: "helm", operation: "Update" };
  assert.deepEqual(of(entry), []);
  assert.deepEqual(of({ ...entry, manager: "kubectl" }, helm, entry, helm), ["helm", "kubectl"]);
  const log = new Map([["log", new Set(["limits.memory", "limits.cpu"] as const)]]);
  assert.deepEqual(otherOwners([helm], { manager: "optipod", fields: log }), ["helm"]);
  const elsewhere = new Map<string, ReadonlySet<ResourceField>>([
    ["log", new Set(["requests.cpu"])],
    ["proxy", new Set(["limits.cpu"])],
  ]);
  assert.deepEqual(otherOwners([helm], { manager: "optipod", fields: elsewhere }), []);
  assert.deepEqual(of({ ...helm, manager: 7 }, null, { ...helm, fieldsV1: "f:spec" }), []);
});
