import assert from "node:assert/strict";
import { limitManagersOf, type ManagedFieldsEntry } from "./pod_managers.ts";

const FOLDER = new URL("../../tests/fixtures/managed-fields/", import.meta.url);

/** By recorded step: who manages the limits of `app` and of the sidecar `proxy`. */
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
  ["10-back-at-the-own-limit", ["mbcas"], ["mbcas"]],
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
