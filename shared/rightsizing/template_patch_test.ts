import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  MI,
  rightsizingSnapshot,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { OWNS_NOTHING } from "../../tests/fixtures/rightsizing/rightsizing_patches.ts";
import type { ResourceField } from "../api/workload.ts";
import { type OwnedFields, ownedFields, templateOwners, templatePatch } from "./template_patch.ts";

const { workload } = rightsizingSnapshot({
  containers: [
    templateContainer(),
    templateContainer({ name: "log", requests: { cpu: 30 } }),
    templateContainer({ name: "proxy", sidecar: true, limits: { cpu: 50 } }),
  ],
});
const wanted = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);

/** Fields by container: `limits.cpu limits.memory`. */
function fields(all: Readonly<Record<string, string>>): OwnedFields["containers"] {
  return new Map(
    Object.entries(all).map(([name, names]) =>
      [name, new Set(names.split(" ") as ResourceField[])] as const
    ),
  );
}

pure("templatePatch() is one patch for all containers, of resources alone, under the UID", () => {
  const app = { name: "app", resources: { requests: { cpu: "150m", memory: "96Mi" } } };
  const metadata = { name: "web", namespace: "shop", uid: "uid-web" };
  const spec = { template: { spec: { containers: [app] } } };
  assert.deepEqual(templatePatch(workload, { wanted, owned: OWNS_NOTHING }), {
    contentType: "application/apply-patch+yaml",
    fieldManager: "optipod",
    force: true,
    body: { apiVersion: "apps/v1", kind: "Deployment", metadata, spec },
  });
  const owned: OwnedFields = {
    containers: fields({
      app: "limits.memory",
      log: "requests.cpu requests.memory",
      gone: "requests.cpu",
    }),
    initContainers: fields({ proxy: "limits.cpu" }),
  };
  // Without server-side apply what changes, and no more.
  assert.deepEqual(templatePatch(workload, { wanted, owned }, { serverSideApply: false }), {
    contentType: "application/strategic-merge-patch+json",
    fieldManager: "optipod",
    force: false,
    body: { metadata, spec },
  });
  // With it what is owned is named again, for every container.
  assert.deepEqual(templatePatch(workload, { wanted, owned }).body.spec.template.spec, {
    containers: [
      { name: "app", resources: { ...app.resources, limits: { memory: "128Mi" } } },
      { name: "log", resources: { requests: { cpu: "30m", memory: "64Mi" } } },
    ],
    initContainers: [{ name: "proxy", resources: { limits: { cpu: "50m" } } }],
  });
});

const cpuLimit = { "f:resources": { "f:limits": { "f:cpu": {} } } };
const requests = { "f:resources": { "f:requests": { "f:cpu": {}, "f:memory": {} } } };

function managed(manager: unknown, containers: object, initContainers: object = {}) {
  const spec = { "f:containers": containers, "f:initContainers": initContainers };
  const fieldsV1 = { "f:spec": { "f:template": { "f:spec": spec } } };
  return { manager, operation: "Apply", fieldsV1 };
}

const entry = managed("optipod", {
  'k:{"name":"app"}': { ...requests, "f:image": {} },
  'k:{"name":"log"}': { "f:resources": { "f:limits": { "f:memory": {} } } },
  'k:{"name":"bare"}': { "f:image": {} },
  "k:{": requests,
  ".": {},
}, { 'k:{"name":"proxy"}': cpuLimit });

pure("ownedFields() reads what a manager has applied", () => {
  assert.deepEqual(ownedFields([entry], "optipod"), {
    containers: fields({ app: "requests.cpu requests.memory", log: "limits.memory" }),
    initContainers: fields({ proxy: "limits.cpu" }),
  });
  const others: readonly unknown[] = [
    [{ ...entry, manager: "kubectl" }],
    [{ ...entry, operation: "Update" }],
    [{ ...entry, fieldsV1: "f:spec" }],
    [null, 7, {}],
    undefined,
    "text",
  ];
  for (const one of others) assert.deepEqual(ownedFields(one, "optipod"), OWNS_NOTHING);
});

pure("templateOwners() reads each value's last manager, and its time", () => {
  const helm = { ...managed("helm", { 'k:{"name":"app"}': cpuLimit }), operation: "Update" };
  const at = (day: number) => ({ time: `2026-01-0${day}T00:00:00Z` });
  const of = (manager: string, day: number) => ({ manager, atMs: Date.UTC(2026, 0, day) });
  const applied = { ...entry, ...at(2) };
  const valuesOf = (last: unknown) => ({ "requests.cpu": last, "requests.memory": last });
  for (const day of [1, 3]) {
    const other = { ...helm, ...at(day) };
    const again = { ...entry, manager: "kubectl", ...at(day) };
    const last = day === 1 ? of("optipod", 2) : of("kubectl", day);
    for (const entries of [[applied, other, again], [again, other, applied]]) {
      assert.deepEqual(templateOwners(entries), {
        app: { ...valuesOf(last), "limits.cpu": of("helm", day) },
        log: { "limits.memory": last },
      });
    }
  }
  const named = { ...managed("helm", { 'k:{"name":"constructor"}': requests }), ...at(1) };
  assert.deepEqual(templateOwners([named]), { constructor: valuesOf(of("helm", 1)) });
  for (const entries of [[helm], [{ ...helm, time: "soon" }], [{ ...at(1) }], undefined, "text"]) {
    assert.equal(templateOwners(entries), undefined);
  }
});
