import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { controllerRights } from "../controller/rights.ts";
import type { AccessRight } from "../controller/start_check.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const NAMESPACE = "mbcas-system";

function covers(rule: Rule, right: AccessRight): boolean {
  const { verb, group, resource, subresource, name } = right;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return rule.apiGroups.includes(group) && rule.resources.includes(full) &&
    rule.verbs.includes(verb) &&
    (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name)));
}

Deno.test("controllerRights() asks for nothing that the manifests don't give", async () => {
  const path = new URL("../manifests/base/controller/rbac.yaml", import.meta.url);
  const objects = parseAllDocuments(await Deno.readTextFile(path)).map((document) =>
    document.toJS() as { kind: string; rules?: readonly Rule[] }
  );
  const rulesOf = (kind: string): readonly Rule[] =>
    objects.filter((object) => object.kind === kind).flatMap(({ rules = [] }) => rules);
  const rights = controllerRights({ namespace: NAMESPACE, configMap: "mbcas-config" });
  for (const right of rights) {
    const rules = [
      ...rulesOf("ClusterRole"),
      ...(right.namespace === NAMESPACE ? rulesOf("Role") : []),
    ];
    assert.ok(rules.some((rule) => covers(rule, right)), JSON.stringify(right));
  }
});
