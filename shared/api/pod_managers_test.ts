import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { limitManagersOf, type ManagedFieldsEntry } from "./pod_managers.ts";

function entry(manager: string, name: string, resources: unknown, list = "f:containers") {
  return {
    manager,
    operation: "Update",
    fieldsV1: { "f:spec": { [list]: { [`k:{"name":"${name}"}`]: { "f:resources": resources } } } },
  };
}

const LIMIT = { "f:limits": { ".": {}, "f:cpu": {} } };

pure("limitManagersOf() finds the managers of each container's limit, sidecars too", () => {
  const managers = limitManagersOf([
    entry("kube-controller-manager", "app", { "f:limits": { "f:memory": {} } }),
    entry("mbcas", "app", LIMIT),
    entry("kubectl-patch", "proxy", LIMIT, "f:initContainers"),
    { manager: "kubelet", fieldsV1: { "f:status": { "f:containerStatuses": {} } } },
  ]);
  assert.deepEqual([...managers], [["app", ["mbcas"]], ["proxy", ["kubectl-patch"]]]);
});

pure("limitManagersOf() names all managers of a shared limit, sorted, each once", () => {
  const managers = limitManagersOf([
    entry("mbcas", "app", LIMIT),
    entry("argocd", "app", LIMIT),
    entry("argocd", "app", LIMIT),
  ]);
  assert.deepEqual(managers.get("app"), ["argocd", "mbcas"]);
});

pure("limitManagersOf() passes over what it does not know", () => {
  const odd = [
    {},
    { manager: "x", fieldsV1: null },
    { manager: "x", fieldsV1: "text" },
    { manager: "x", fieldsV1: { "f:spec": { "f:containers": { ".": {}, "k:{bad": LIMIT } } } },
    {
      manager: "x",
      fieldsV1: { "f:spec": { "f:containers": { 'k:{"port":1}': LIMIT, "k:null": 1 } } },
    },
  ];
  assert.equal(limitManagersOf(odd).size, 0);
});

const FOLDER = new URL("../../tests/fixtures/managed-fields/", import.meta.url);

/** By recorded step: the managers of the limits of `app` and of the sidecar `proxy`. */
const EXPECTED: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["01-created", ["kube-controller-manager"], ["kube-controller-manager"]],
  ["02-raised-by-mbcas", ["mbcas"], ["kube-controller-manager"]],
  ["03-then-kubectl-patch", ["kubectl-patch"], ["kube-controller-manager"]],
  ["04-then-mbcas", ["mbcas"], ["kube-controller-manager"]],
  ["05-same-value-patched-by-another", ["mbcas"], ["kube-controller-manager"]],
  ["06-same-value-applied-by-another", ["argocd", "mbcas"], ["kube-controller-manager"]],
  ["07-mbcas-after-the-apply", ["mbcas"], ["kube-controller-manager"]],
  ["08-applied-with-force", ["argocd"], ["kube-controller-manager"]],
  ["09-sidecar-by-mbcas", ["argocd"], ["mbcas"]],
  ["10-back-at-the-original-limit", ["mbcas"], ["mbcas"]],
];

for (const [step, app, proxy] of EXPECTED) {
  Deno.test(`limitManagersOf() reads a real server's record: ${step}`, async () => {
    const { managedFields } = JSON.parse(
      await Deno.readTextFile(new URL(`${step}.json`, FOLDER)),
    ) as { managedFields: readonly ManagedFieldsEntry[] };
    const managers = limitManagersOf(managedFields);
    assert.deepEqual([managers.get("app"), managers.get("proxy")], [app, proxy]);
  });
}
