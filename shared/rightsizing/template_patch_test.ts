import assert from "node:assert/strict";
import {
  MI,
  rightsizingFacts,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { ResourceField } from "../api/workload.ts";
import { OWNS_NOTHING } from "../../tests/fixtures/rightsizing/owned_fields.ts";
import {
  otherOwners,
  type OwnedFields,
  ownedFields,
  templateOwners,
  templatePatch,
} from "./template_patch.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const containers = [
  templateContainer(),
  templateContainer({ name: "log", requests: { cpu: 30 } }),
  templateContainer({ name: "proxy", sidecar: true, limits: { cpu: 50 } }),
];
const { workload } = rightsizingFacts({ containers });
const wanted = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);
const fields = (...names: ResourceField[]): ReadonlySet<ResourceField> => new Set(names);
const appEntry = { name: "app", resources: { requests: { cpu: "150m", memory: "96Mi" } } };

test("templatePatch() is one apply for all containers, of resources alone, under the UID", () => {
  assert.deepEqual(templatePatch(workload, { wanted, owned: OWNS_NOTHING }), {
    contentType: "application/apply-patch+yaml",
    fieldManager: "optipod",
    force: true,
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "shop", uid: "uid-web" },
      spec: { template: { spec: { containers: [appEntry] } } },
    },
  });
});

test("templatePatch() names again what it owns, for every container, init containers too", () => {
  const owned: OwnedFields = {
    containers: new Map([
      ["app", fields("limits.memory")],
      ["log", fields("requests.cpu", "requests.memory")],
      ["gone", fields("requests.cpu")],
    ]),
    initContainers: new Map([["proxy", fields("limits.cpu")]]),
  };
  assert.deepEqual(templatePatch(workload, { wanted, owned }).body.spec.template.spec, {
    containers: [
      {
        name: "app",
        resources: { ...appEntry.resources, limits: { memory: "128Mi" } },
      },
      { name: "log", resources: { requests: { cpu: "30m", memory: "64Mi" } } },
    ],
    initContainers: [{ name: "proxy", resources: { limits: { cpu: "50m" } } }],
  });
});

test("templatePatch() merges without server-side apply what changes, and no more", () => {
  const owned = { ...OWNS_NOTHING, containers: new Map([["log", fields("requests.cpu")]]) };
  const patch = templatePatch(workload, { wanted, owned }, { serverSideApply: false });
  assert.deepEqual(patch, {
    contentType: "application/strategic-merge-patch+json",
    fieldManager: "optipod",
    force: false,
    body: {
      metadata: { name: "web", namespace: "shop", uid: "uid-web" },
      spec: { template: { spec: { containers: [appEntry] } } },
    },
  });
});

test("templatePatch() refuses to build a rollout of nothing", () => {
  assert.throws(
    () => templatePatch(workload, { wanted: new Map(), owned: OWNS_NOTHING }),
    { name: "RangeError" },
  );
});

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

test("templateOwners() reads the manager that has written each request and limit last, and when it did", () => {
  const limits = { "f:resources": { "f:limits": { "f:cpu": {} } } };
  const spec = { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"app"}': limits } } } };
  const helm = { manager: "helm", operation: "Update", fieldsV1: { "f:spec": spec } };
  const at = (day: number) => ({ time: `2026-01-0${day}T00:00:00Z` });
  const of = (manager: string, day: number) => ({ manager, atMs: Date.UTC(2026, 0, day) });
  const applied = { ...entry, ...at(2) };
  const ours = of("optipod", 2);
  const app = { "requests.cpu": ours, "requests.memory": ours };
  const log = { "limits.memory": ours };
  for (const day of [1, 3]) {
    const other = { ...helm, ...at(day) };
    const again = { ...entry, manager: "kubectl", ...at(day) };
    for (const entries of [[applied, other, again], [again, other, applied]]) {
      const last = day === 1 ? ours : of("kubectl", day);
      assert.deepEqual(templateOwners(entries), {
        app: {
          ...Object.fromEntries(Object.keys(app).map((field) => [field, last])),
          "limits.cpu": of("helm", day),
        },
        log: { "limits.memory": last },
      });
    }
  }
  const named = JSON.parse(JSON.stringify(applied).replace('\\"app\\"', '\\"constructor\\"'));
  assert.deepEqual(templateOwners([named]), { constructor: app, log });
  for (const entries of [[helm], [{ ...helm, time: "soon" }], [{ ...at(1) }], undefined, "text"]) {
    assert.equal(templateOwners(entries), undefined);
  }
});

test("otherOwners() names the other managers of these fields of these containers", () => {
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
