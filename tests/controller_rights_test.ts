import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { controllerRights, placementRights } from "./fixtures/controller_rights.ts";
import type { AccessRule } from "../adapters/kube/client/api_checks.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const NAMESPACE = "mbcas-system";

function covers(rule: Rule, right: AccessRule): boolean {
  const { verb, group, resource, subresource, name } = right;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return rule.apiGroups.includes(group) && rule.resources.includes(full) &&
    rule.verbs.includes(verb) &&
    (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name)));
}

async function rulesOf(
  kind: string,
  folder: "base/controller" | `components/${string}` = "base/controller",
): Promise<readonly Rule[]> {
  const path = new URL(`../manifests/${folder}/rbac.yaml`, import.meta.url);
  const objects = parseAllDocuments(await Deno.readTextFile(path)).map((document) =>
    document.toJS() as { kind: string; rules?: readonly Rule[] }
  );
  return objects.filter((object) => object.kind === kind).flatMap(({ rules = [] }) => rules);
}

const PLACE = { namespace: NAMESPACE, configMap: "mbcas-config", dashboard: true };
const rights = controllerRights(PLACE);

function rightText({ verb, group, resource, subresource }: AccessRule): string {
  return `${verb} ${group}/${[resource, subresource].filter(Boolean).join("/")}`;
}

function given(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))
    )
  );
}

Deno.test("controllerRights() asks for nothing that the manifests don't give", async () => {
  const [wide, narrow] = [await rulesOf("ClusterRole"), await rulesOf("Role")];
  for (const right of rights) {
    const rules = [...wide, ...(right.namespace === NAMESPACE ? narrow : [])];
    assert.ok(rules.some((rule) => covers(rule, right)), JSON.stringify(right));
  }
});

Deno.test("controllerRights() asks for all that the manifests give, but for what can be done without", async () => {
  const asked = rights.map(rightText);
  const all = given([...await rulesOf("ClusterRole"), ...await rulesOf("Role")]);
  // Templates of owners, and events.
  assert.deepEqual(all.filter((right) => !asked.includes(right)), [
    "get apps/replicasets",
    "get apps/controllerrevisions",
    "get batch/jobs",
    "create events.k8s.io/events",
    "patch events.k8s.io/events",
  ]);
});

Deno.test("controllerRights() asks for policies and reports where rightsizing is on, and only there", async () => {
  const added = controllerRights({ ...PLACE, rightsizing: true }).slice(rights.length).map(
    rightText,
  );
  assert.deepEqual(controllerRights({ ...PLACE, rightsizing: false }), rights);
  assert.ok(!rights.some(({ group }) => group === "optipod.io"));
  const component = "components/rightsizing";
  const all = given([
    ...await rulesOf("ClusterRole", component),
    ...await rulesOf("Role", component),
  ]);
  assert.deepEqual(added.filter((right) => !all.includes(right)), []);
  // Rightsizing does without recreation and annotations, VPAs, and usage from metrics-server.
  assert.deepEqual(all.filter((right) => !added.includes(right)), [
    ...["deployments", "statefulsets", "daemonsets"].flatMap((resource) => [
      `get apps/${resource}`,
      `patch apps/${resource}`,
    ]),
    "create autoscaling.k8s.io/verticalpodautoscalers",
    "delete autoscaling.k8s.io/verticalpodautoscalers",
    "patch autoscaling.k8s.io/verticalpodautoscalers/status",
    "list metrics.k8s.io/pods",
    "list /configmaps",
    "create /configmaps",
    "patch /configmaps",
    "delete /configmaps",
  ]);
});

Deno.test("placementRights() is what the component placement gives, in its namespace or everywhere", async () => {
  const component = "components/placement";
  const asked = placementRights(NAMESPACE);
  const texts = (inside: boolean): readonly string[] =>
    asked.filter(({ namespace }) => (namespace === NAMESPACE) === inside).map(rightText).sort();
  assert.deepEqual(texts(false), given(await rulesOf("ClusterRole", component)).toSorted());
  assert.deepEqual(texts(true), given(await rulesOf("Role", component)).toSorted());
  assert.ok(asked.length > 10);
});
