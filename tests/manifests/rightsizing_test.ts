/** The component rightsizing: what the market does without, what policies need, and no more. */
import assert from "node:assert/strict";
import { RIGHTSIZING_SETTINGS } from "../../controller/rightsizing/settings.ts";
import { one, render, type Rendered, renderTest, renderWith, rightsOf } from "./rendered.ts";
import { settingOf } from "../../shared/config/setting.ts";

function keys(objects: readonly Rendered[]): string[] {
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

function envOf(objects: readonly Rendered[]) {
  return one(objects, "Deployment", "mbcas-controller").spec.template.spec.containers[0].env;
}

const PARTS = [
  "ClusterRole mbcas-rightsizing",
  "ClusterRoleBinding mbcas-rightsizing",
  "CustomResourceDefinition optimizationpolicies.optipod.io",
  "CustomResourceDefinition recommendationreports.optipod.io",
  "Role mbcas-rightsizing",
  "RoleBinding mbcas-rightsizing",
];

renderTest("component rightsizing comes only where it is asked for, definitions too", async () => {
  const usual = await render("base");
  const objects = await renderWith(["rightsizing"]);
  const before = new Set(keys(usual));
  assert.deepEqual(keys(objects).filter((key) => !before.has(key)).sort(), PARTS);
  for (const overlay of ["base", "overlays/release"]) {
    const found = keys(await render(overlay));
    assert.deepEqual(found.filter((key) => PARTS.includes(key)), [], overlay);
    assert.ok(found.includes("CustomResourceDefinition podallocations.allocation.mbcas.io"));
  }
  const definitions = keys(await render("crds")).sort();
  assert.deepEqual(definitions, [
    "CustomResourceDefinition optimizationpolicies.optipod.io",
    "CustomResourceDefinition podallocations.allocation.mbcas.io",
    "CustomResourceDefinition recommendationreports.optipod.io",
  ]);
});

renderTest("component rightsizing turns the setting on, which is off without it", async () => {
  const [usual, added] = [envOf(await render("base")), envOf(await renderWith(["rightsizing"]))];
  const { rightsizing } = RIGHTSIZING_SETTINGS.shape;
  const { env: name } = settingOf(rightsizing);
  assert.deepEqual(added, [...usual, { name, value: "on" }]);
  assert.deepEqual([rightsizing.parse("on"), rightsizing.parse(undefined)], [true, false]);
});

renderTest("component rightsizing changes nothing of the base but that variable", async () => {
  const strip = (objects: readonly Rendered[]): readonly unknown[] =>
    objects.filter((object) => !PARTS.includes(keys([object])[0] ?? ""))
      .map((object) => JSON.parse(JSON.stringify(object).replace(VARIABLE, "")));
  const objects = await renderWith(["rightsizing"]);
  assert.deepEqual(strip(objects), strip(await render("base")));
  assert.ok(JSON.stringify(objects).includes(VARIABLE));
});

/** As it stands behind the other variables. */
const VARIABLE = ',{"name":"MBCAS_RIGHTSIZING","value":"on"}';

renderTest(
  "component rightsizing gives what the loop uses, and writes little but its own kinds",
  async () => {
    const objects = await renderWith(["rightsizing"]);
    const wide = rightsOf(one(objects, "ClusterRole", "mbcas-rightsizing"));
    const narrow = rightsOf(one(objects, "Role", "mbcas-rightsizing"));
    const writes = wide.filter((right) => !/^(get|list|watch) /.test(right));
    assert.deepEqual(writes, [
      "update optipod.io/optimizationpolicies/status",
      "create optipod.io/recommendationreports",
      "patch optipod.io/recommendationreports",
      "delete optipod.io/recommendationreports",
      "patch apps/deployments",
      "patch apps/statefulsets",
      "patch apps/daemonsets",
      "create autoscaling.k8s.io/verticalpodautoscalers",
      "delete autoscaling.k8s.io/verticalpodautoscalers",
      "patch autoscaling.k8s.io/verticalpodautoscalers/status",
    ]);
    assert.ok(wide.includes("list metrics.k8s.io/pods"));
    assert.deepEqual(
      narrow,
      ["list", "create", "patch", "delete"].map((verb) => `${verb} /configmaps`),
    );
    // No right is given twice, and none of the base is given for more.
    const base = ["ClusterRole", "Role"].flatMap((kind) =>
      rightsOf(one(objects, kind, "mbcas-controller"), { withNames: true })
    );
    assert.deepEqual([...wide, ...narrow].filter((right) => base.includes(right)), []);
    for (const kind of ["RoleBinding", "ClusterRoleBinding"]) {
      const { subjects } = one(objects, kind, "mbcas-rightsizing") as unknown as {
        readonly subjects: readonly unknown[];
      };
      assert.deepEqual(subjects, [
        { kind: "ServiceAccount", name: "mbcas-controller", namespace: "mbcas-system" },
      ]);
    }
  },
);

renderTest("component rightsizing goes together with all the others", async () => {
  const objects = await renderWith([
    "users",
    "rightsizing",
    "webhook",
    "webhook-cert-manager",
    "dry-run",
    "prometheus",
    "metric-queries",
  ]);
  const found = keys(objects);
  assert.equal(new Set(found).size, found.length);
  const names = envOf(objects).map((variable) => (variable as { name: string }).name);
  for (const name of ["MBCAS_RIGHTSIZING", "MBCAS_WEBHOOK", "MBCAS_DRY_RUN"]) {
    assert.ok(names.includes(name), name);
  }
});
