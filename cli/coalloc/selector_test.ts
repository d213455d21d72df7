import assert from "node:assert/strict";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { shopTest } from "../../tests/fixtures/cli/shop_scene.ts";
import { placedTest } from "../../tests/fixtures/placement/placed_shop.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";

/** Pods `web-0`, `web-1` with the label app=web, and `db`, all above their original limits. */
function addPods(scene: CoallocScene): void {
  for (const [name, app] of [["web-0", "web"], ["web-1", "web"], ["db", "db"]] as const) {
    addMarketPod(scene, name, { limit: 450, own: 200 });
    scene.api.store.tables.Pod.modify(`shop/${name}`, (pod) => (
      { ...pod, metadata: { ...pod.metadata, labels: { app } } }
    ));
  }
}

const namesOf = (list: readonly { readonly pod: string }[]): string[] =>
  list.map(({ pod }) => pod).sort();

sceneTest("--selector chooses the pods of top, explain, resize and restore", async (scene) => {
  addPods(scene);
  const [, top] = await scene.ran("top -l app=web -o json");
  assert.deepEqual(namesOf(JSON.parse(top).pods), ["web-0", "web-1"]);
  const [, explained] = await scene.ran("explain -l app=web -o yaml");
  assert.deepEqual(explained.match(/^pod: .*/gm), ["pod: web-0", "pod: web-1"]);
  assert.equal(explained.match(/^---$/gm)?.length, 2);
  const [code, resized] = await scene.ran("resize -l app=web --cpu-limit 300m --dry-run");
  assert.equal(code, 0);
  assert.deepEqual(resized.match(/shop\/[\w-]+/g), ["shop/web-0", "shop/web-1"]);
  const [, restored] = await scene.ran("restore -l app=web -y -o json");
  assert.deepEqual(namesOf(JSON.parse(restored).results), ["web-0", "web-1"]);
  const managed = scene.api.store.tables.Pod.all().map(({ metadata: { annotations } }) =>
    annotations[MANAGED]
  );
  assert.deepEqual(managed.sort(), ["false", "false", undefined]);
});

shopTest(
  "--selector chooses the workloads of recommend by the labels of their manifests",
  async (scene) => {
    const [, out] = await scene.ran("recommend -l app=web -o json");
    assert.deepEqual(JSON.parse(out).workloads.map(({ name }: { name: string }) => name), ["web"]);
  },
);

placedTest("--selector chooses the workloads of placement", [
  { nodes: [] },
  { name: "cart", nodes: [] },
], async (scene) => {
  const metadata = { name: "cart", namespace: "shop", uid: "", resourceVersion: "" };
  scene.rightsizing.templates = [{ kind: "Deployment", metadata, replicas: 0, containers: [] }];
  const [, out] = await scene.ran("placement -l app=cart -o json");
  assert.deepEqual(JSON.parse(out).workloads.map(({ name }: { name: string }) => name), ["cart"]);
});

sceneTest(
  "-o csv and -o markdown print every column of a table, and notes beside it",
  async (scene) => {
    addPods(scene);
    const [, csv, notes] = await scene.ran("top -l app=db -o csv");
    assert.deepEqual(csv.split("\n"), [
      "NAMESPACE,POD,USAGE,DEMAND,LIMIT,THROTTLED,PRICE,REASON,NODE,ORIGINAL,FLOOR,CEILING,AGE",
      "shop,db,-,-,-,-,-,-,node-1,200m,-,-,0ms",
      "",
    ]);
    assert.match(notes, /^No agent runs/);
    const [, markdown] = await scene.ran("top -l app=db -o markdown");
    assert.deepEqual(markdown.split("\n").slice(0, 2).map((line) => line.slice(0, 38)), [
      "| NAMESPACE | POD | USAGE | DEMAND | L",
      "| --- | --- | ---: | ---: | ---: | ---",
    ]);
    for (const line of ["recommend -o csv", "placement -o csv"]) {
      assert.match((await scene.ran(line))[1], /^NAMESPACE,WORKLOAD,/, line);
    }
  },
);
