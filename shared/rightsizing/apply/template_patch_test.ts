import assert from "node:assert/strict";
import {
  MI,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { type OwnedFields, OWNS_NOTHING, type ResourceField } from "./owned_fields.ts";
import { templatePatch } from "./template_patch.ts";

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
const fields = (...names: (ResourceField)[]): ReadonlySet<ResourceField> => new Set(names);
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
