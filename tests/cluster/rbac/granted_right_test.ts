import assert from "node:assert/strict";
import { accessRuleText } from "./role_act.ts";
import type { ManifestObject } from "../rendered_manifests.ts";
import { grantedRights, ruleOfRight } from "./granted_right.ts";

const SUBJECTS = [{ kind: "ServiceAccount", name: "worker", namespace: "system" }];

function role(kind: string, name: string, rules: readonly unknown[]): ManifestObject {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name }, rules };
}

function binding(kind: string, ref: string, namespace?: string): ManifestObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: `${kind}Binding`,
    metadata: { name: ref, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { kind, name: ref },
    subjects: SUBJECTS,
  };
}

const OBJECTS: readonly ManifestObject[] = [
  role("ClusterRole", "wide", [
    { apiGroups: ["", "apps"], resources: ["pods/resize", "things"], verbs: ["get", "patch"] },
  ]),
  binding("ClusterRole", "wide"),
  role("Role", "narrow", [
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["a", "b"], verbs: ["list"] },
  ]),
  binding("Role", "narrow", "system"),
  role("ClusterRole", "unbound", [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]),
];

Deno.test({
  name: "grantedRights() takes the bound roles apart, verb by verb",
  permissions: "none",
  fn() {
    assert.deepEqual(grantedRights(OBJECTS, "worker").map(accessRuleText), [
      "get pods/resize",
      "patch pods/resize",
      "get things",
      "patch things",
      "get pods/resize.apps",
      "patch pods/resize.apps",
      "get things.apps",
      "patch things.apps",
      'list configmaps "a" in system',
      'list configmaps "b" in system',
    ]);
    assert.deepEqual(grantedRights(OBJECTS, "outsider"), []);
  },
});

Deno.test({
  name: "grantedRights() refuses a binding with a role that is not there",
  permissions: "none",
  fn() {
    const lost = [...OBJECTS, binding("Role", "lost", "system")];
    assert.throws(() => grantedRights(lost, "worker"), /\bworker: no Role\b/);
  },
});

Deno.test({
  name: "ruleOfRight() gives a right and nothing else",
  permissions: "none",
  fn() {
    const rights = grantedRights(OBJECTS, "worker");
    for (const right of rights) {
      const inside = right.namespace;
      const objects = [
        role("Role", "one", [ruleOfRight(right)]),
        binding("Role", "one", inside),
      ];
      assert.deepEqual(grantedRights(objects, "worker"), [right]);
    }
  },
});
