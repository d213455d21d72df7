/** Tests of the component of rightsizing as kustomize renders it, and of recommendations as patches. */
import assert from "node:assert/strict";
import { patchText } from "../../cli/coalloc/recommend/patch_text.ts";
import { adviseAll } from "../../shared/view/advise.ts";
import { sumOfChanges } from "../../shared/view/changes.ts";
import { reportsOf, shopPods, shopRecords, shopTemplates } from "../fixtures/cli/advised_shop.ts";
import {
  one,
  render,
  type Rendered,
  renderFiles,
  renderTest,
  renderWith,
  rightsOf,
} from "./rendered.ts";

renderTest("component rightsizing brings its definitions, which the base has not", async () => {
  const definitionsIn = (objects: readonly Rendered[]): readonly string[] =>
    objects.flatMap(({ kind, metadata: { name } }) =>
      kind === "CustomResourceDefinition" ? [name] : []
    ).sort();
  const own = ["podallocations.allocation.mbcas.io"];
  const all = ["optimizationpolicies.optipod.io", ...own, "recommendationreports.optipod.io"];
  for (
    const [path, expected] of [["base", own], ["overlays/release", own], ["crds", all]] as const
  ) {
    assert.deepEqual(definitionsIn(await render(path)), expected, path);
  }
  assert.deepEqual(definitionsIn(await renderWith(["rightsizing"])), all);
});

renderTest("component rightsizing gives no right twice, and none of the base's", async () => {
  const objects = await renderWith(["rightsizing"]);
  const rightsIn = (name: string): readonly string[] =>
    ["ClusterRole", "Role"].flatMap((kind) =>
      rightsOf(one(objects, kind, name), { withNames: true })
    );
  const added = rightsIn("mbcas-rightsizing");
  assert.ok(added.includes("list metrics.k8s.io/pods"));
  assert.equal(new Set(added).size, added.length);
  const base = rightsIn("mbcas-controller");
  assert.deepEqual(added.filter((right) => base.includes(right)), []);
});

function shopPatches(): string {
  const workloads = adviseAll({
    reports: reportsOf(shopRecords()),
    templates: shopTemplates(),
    pods: shopPods(),
    allocations: [],
  });
  const changes = sumOfChanges(workloads.map((workload) => workload.changes));
  return patchText({ workloads, changes, notes: [] });
}

const resources = { requests: { cpu: "500m", memory: "128Mi" }, limits: { cpu: "1" } };

/** A manifest as a user keeps it. */
function manifest(kind: string, name: string, spec: Record<string, unknown>): string {
  const labels = { app: name };
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

const WEB = manifest("Deployment", "web", {
  containers: [{ name: "app", image: "web:1", resources, args: ["--fast"] }],
  initContainers: [{ name: "proxy", image: "proxy:1", restartPolicy: "Always" }],
});
const DB = manifest("StatefulSet", "db", {
  containers: [{ name: "db", image: "db:1", resources }],
});

renderTest("patchText() is taken by kustomize as a layer over the namespace's", async () => {
  const objects = await renderFiles({
    "base/web.yaml": WEB,
    "base/db.yaml": DB,
    "base/kustomization.yaml": "namespace: shop\nresources: [web.yaml, db.yaml]\n",
    "recommendations.yaml": shopPatches(),
    "kustomization.yaml": "resources: [base]\npatches:\n  - path: recommendations.yaml\n",
  });
  const web: unknown = one(objects, "Deployment", "web").spec.template.spec;
  assert.deepEqual(web, {
    containers: [{
      name: "app",
      image: "web:1",
      args: ["--fast"],
      resources: { requests: { cpu: "336m", memory: "88617123" }, limits: { cpu: "1" } },
    }],
    initContainers: [{
      name: "proxy",
      image: "proxy:1",
      restartPolicy: "Always",
      resources: { requests: { cpu: "50m", memory: "67108864" } },
    }],
  });
  const db: unknown = one(objects, "StatefulSet", "db").spec.template.spec;
  assert.deepEqual(db, {
    containers: [{
      name: "db",
      image: "db:1",
      resources: { requests: { cpu: "1500m", memory: "128Mi" }, limits: { cpu: "3" } },
    }],
  });
});

renderTest("patchText() without namespaces is taken where manifests have none", async () => {
  const objects = await renderFiles({
    "web.yaml": WEB,
    "db.yaml": DB,
    // As the guide's sed does.
    "recommendations.yaml": shopPatches().replaceAll(/^ {2}namespace: .*\n/gm, ""),
    "kustomization.yaml": "resources: [web.yaml, db.yaml]\npatches:\n" +
      "  - path: recommendations.yaml\n",
  });
  const [app] = one(objects, "Deployment", "web").spec.template.spec.containers;
  assert.equal(app.resources.requests["cpu"], "336m");
});
