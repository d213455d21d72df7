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

async function rulesOf(kind: string): Promise<readonly Rule[]> {
  const path = new URL("../manifests/base/controller/rbac.yaml", import.meta.url);
  const objects = parseAllDocuments(await Deno.readTextFile(path)).map((document) =>
    document.toJS() as { kind: string; rules?: readonly Rule[] }
  );
  return objects.filter((object) => object.kind === kind).flatMap(({ rules = [] }) => rules);
}

const rights = controllerRights({ namespace: NAMESPACE, configMap: "mbcas-config" });

Deno.test("controllerRights() asks for nothing that the manifests don't give", async () => {
  const [wide, narrow] = [await rulesOf("ClusterRole"), await rulesOf("Role")];
  for (const right of rights) {
    const rules = [...wide, ...(right.namespace === NAMESPACE ? narrow : [])];
    assert.ok(rules.some((rule) => covers(rule, right)), JSON.stringify(right));
  }
});

Deno.test("controllerRights() asks for all that the manifests give, but for what can be done without", async () => {
  const asked = rights.map(({ verb, group, resource, subresource }) =>
    `${verb} ${group}/${[resource, subresource].filter(Boolean).join("/")}`
  );
  const given = [...await rulesOf("ClusterRole"), ...await rulesOf("Role")].flatMap((rule) =>
    rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${verb} ${group}/${resource}`))
    )
  );
  // Templates of owners, and events.
  assert.deepEqual(given.filter((right) => !asked.includes(right)), [
    "get apps/replicasets",
    "get apps/controllerrevisions",
    "get batch/jobs",
    "create events.k8s.io/events",
    "patch events.k8s.io/events",
  ]);
});
