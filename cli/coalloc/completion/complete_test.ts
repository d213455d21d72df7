import assert from "node:assert/strict";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { reportsOf, shopRecords } from "../../../tests/fixtures/cli/advised_shop.ts";
import { addShopWorkload, placedScene } from "../../../tests/fixtures/placement/placed_shop.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { COMPLETION_SHELLS } from "./completion_script.ts";

/** Each command line, and what completion offers for its last argument; `:0` alone are files. */
async function assertCompleted(
  scene: CoallocScene,
  rows: readonly (readonly [line: string, offered: string])[],
): Promise<void> {
  for (const [line, offered] of rows) {
    const [code, out] = await scene.ran(`__complete ${line}`);
    assert.equal(code, 0);
    const found = out.trimEnd().split("\n").map((one) => one.split("\t")[0] ?? "");
    assert.equal(found.join(" "), offered.startsWith(":") ? offered : `${offered} :4`, line);
  }
}

sceneTest("complete() offers commands, flags, values and names from the cluster", async (scene) => {
  for (const name of ["web-0", "web-1", "db"]) addMarketPod(scene, name, { limit: 1, own: 1 });
  addMarketPod(scene, "far", { limit: 1, own: 1, namespace: "other" });
  await assertCompleted(scene, [
    ["rep", "report"],
    ["explain w", "web-0 web-1"],
    ["explain web-0 ", ":4"],
    ["top web-0 ", "db web-1"],
    ["explain -n other ", "far"],
    ["top --namespace=other ", "far"],
    ["top -n o", "other"],
    ["top --namespace=s", "--namespace=shop"],
    ["top --node ", "node-1"],
    ["top -o y", "yaml"],
    ["top -o p", ":4"],
    ["top --kubeconfig ", ":0"],
    ["top --context ", ":4"],
    ["restore --d", "--dry-run"],
    ["completion z", "zsh"],
    ["version ", ":4"],
    ["nothing ", ":4"],
    ["si", "simulate"],
    ["simulate --trace ", ":0"],
    ["simulate --format p", "prometheus"],
    ["simulate --s", "--series --scale-p95 --slo-ms --seeds"],
    ["simulate ", ":4"],
    // Flags before the command.
    ["-A res", "restore resize"],
    ["-n o", "other"],
    ["-n other explain ", "far"],
    ["--no-c", "--no-color"],
  ]);
});

sceneTest("complete() offers workloads with recommendations, and their policies", async (scene) => {
  addMarketPod(scene, "pod-of-web", { limit: 1, own: 1 });
  const records = shopRecords();
  const [web, db] = records;
  assert.ok(web !== undefined && db !== undefined);
  scene.rightsizing.reports = [...reportsOf(records), ...reportsOf([web], "other")];
  await assertCompleted(scene, [
    ["recommend ", "db log web"],
    ["recommend -n other ", "web"],
    ["recommend web ", ":4"],
    ["recommend --policy ", "all databases"],
    ["recommend -n other --policy=", "--policy=all"],
    ["recommend -o p", "patch"],
  ]);
  // Two of one name are reported apart.
  const twin = { ...db, workload: { ...db.workload, name: "web" } };
  scene.rightsizing.reports = reportsOf([web, twin]);
  await assertCompleted(scene, [["recommend ", "deployment/web statefulset/web"]]);
});

const placed = () =>
  placedScene(
    { nodes: [] },
    { kind: "StatefulSet", name: "db", nodes: [] },
    { name: "cart", namespace: "far", nodes: [] },
  );

sceneTest("complete() offers workloads with replicas that may be placed", async (scene) => {
  await assertCompleted(scene, [
    ["pl", "placement"],
    ["placement ", "db web"],
    ["placement -n far ", "cart"],
    ["placement web ", ":4"],
    ["placement --w", "--watch"],
    ["placement -o w", "wide"],
  ]);
  addShopWorkload(scene, { kind: "StatefulSet", name: "web", nodes: [] });
  await assertCompleted(scene, [["placement deployment", "deployment/web"]]);
  scene.placement.hidden.add("statuses");
  await assertCompleted(scene, [["placement ", ":4"]]);
}, placed);

sceneTest("complete() offers nothing without a cluster, and hands its flags on", async (scene) => {
  const asked: unknown[] = [];
  const connect = (options: unknown) => {
    asked.push(options);
    return Promise.reject(new Error("no cluster"));
  };
  const args = ["__complete", "top", "--kubeconfig", "k", "--context=c", ""];
  assert.equal(await runCoalloc(args, { ...scene.world, connect }), 0);
  assert.equal(scene.out, ":4\n");
  assert.deepEqual(asked, [{ kubeconfig: "k", context: "c" }]);
});

sceneTest("completionScript() asks the program itself, for every shell", async (scene) => {
  for (const shell of COMPLETION_SHELLS) {
    const [code, out] = await scene.ran(`completion ${shell}`);
    assert.equal(code, 0);
    assert.match(out, /coalloc __complete/, shell);
  }
});
