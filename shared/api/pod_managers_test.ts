import assert from "node:assert/strict";
import { limitManagersOf } from "./pod_managers.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function entry(manager: string, name: string, resources: unknown, list = "f:containers") {
  return {
    manager,
    operation: "Update",
    fieldsV1: { "f:spec": { [list]: { [`k:{"name":"${name}"}`]: { "f:resources": resources } } } },
  };
}

const LIMIT = { "f:limits": { ".": {}, "f:cpu": {} } };

test("limitManagersOf() finds who manages each container's limit, sidecars too", () => {
  const managers = limitManagersOf([
    entry("kube-controller-manager", "app", { "f:limits": { "f:memory": {} } }),
    entry("mbcas", "app", LIMIT),
    entry("kubectl-patch", "proxy", LIMIT, "f:initContainers"),
    { manager: "kubelet", fieldsV1: { "f:status": { "f:containerStatuses": {} } } },
  ]);
  assert.deepEqual([...managers], [["app", ["mbcas"]], ["proxy", ["kubectl-patch"]]]);
});

test("limitManagersOf() names all who manage a limit together, sorted, each once", () => {
  const managers = limitManagersOf([
    entry("mbcas", "app", LIMIT),
    entry("argocd", "app", LIMIT),
    entry("argocd", "app", LIMIT),
  ]);
  assert.deepEqual(managers.get("app"), ["argocd", "mbcas"]);
});

test("limitManagersOf() passes over what it does not know", () => {
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
