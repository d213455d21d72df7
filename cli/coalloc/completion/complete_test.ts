import assert from "node:assert/strict";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { reportsOf, shopRecords } from "../../../tests/fixtures/cli/advised_shop.ts";
import { addShopWorkload, placedScene } from "../../../tests/fixtures/placement/placed_shop.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { COMPLETION_SHELLS } from "./completion_script.ts";

async function completed(scene: CoallocScene, ...args: string[]): Promise<string[]> {
  scene.out = "";
  assert.equal(await scene.run("__complete", ...args), 0);
  return scene.out.trimEnd().split("\n").map((line) => line.split("\t")[0] ?? "");
}

Deno.test({
  name: "complete() offers commands, flags, values and names from the cluster",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    for (const name of ["web-0", "web-1", "db"]) addMarketPod(scene, name, { limit: 1, own: 1 });
    addMarketPod(scene, "far", { limit: 1, own: 1, namespace: "other" });
    assert.deepEqual(await completed(scene, "re"), ["restore", "resize", "recommend", ":4"]);
    assert.deepEqual(await completed(scene, "explain", "w"), ["web-0", "web-1", ":4"]);
    assert.deepEqual(await completed(scene, "explain", "web-0", ""), [":4"]);
    assert.deepEqual(await completed(scene, "top", "web-0", ""), ["db", "web-1", ":4"]);
    assert.deepEqual(await completed(scene, "explain", "-n", "other", ""), ["far", ":4"]);
    assert.deepEqual(await completed(scene, "top", "--namespace=other", ""), ["far", ":4"]);
    assert.deepEqual(await completed(scene, "top", "-n", "o"), ["other", ":4"]);
    assert.deepEqual(await completed(scene, "top", "--namespace=s"), ["--namespace=shop", ":4"]);
    assert.deepEqual(await completed(scene, "top", "--node", ""), ["node-1", ":4"]);
    assert.deepEqual(await completed(scene, "top", "-o", "y"), ["yaml", ":4"]);
    assert.deepEqual(await completed(scene, "top", "--kubeconfig", ""), [":0"]);
    assert.deepEqual(await completed(scene, "top", "--context", ""), [":4"]);
    assert.deepEqual(await completed(scene, "restore", "--d"), ["--dry-run", ":4"]);
    assert.deepEqual(await completed(scene, "completion", "z"), ["zsh", ":4"]);
    assert.deepEqual(await completed(scene, "version", ""), [":4"]);
    assert.deepEqual(await completed(scene, "nothing", ""), [":4"]);
    assert.deepEqual(await completed(scene, "si"), ["simulate", ":4"]);
    assert.deepEqual(await completed(scene, "simulate", "--trace", ""), [":0"]);
    assert.deepEqual(await completed(scene, "simulate", "--format", "p"), ["prometheus", ":4"]);
    assert.deepEqual(await completed(scene, "simulate", "--s"), [
      "--series",
      "--scale-p95",
      "--slo-ms",
      "--seeds",
      ":4",
    ]);
    assert.deepEqual(await completed(scene, "simulate", ""), [":4"]);
    // Flags before the command.
    assert.deepEqual(await completed(scene, "-A", "res"), ["restore", "resize", ":4"]);
    assert.deepEqual(await completed(scene, "-n", "o"), ["other", ":4"]);
    assert.deepEqual(await completed(scene, "-n", "other", "explain", ""), ["far", ":4"]);
    assert.deepEqual(await completed(scene, "--no-c"), ["--no-color", ":4"]);
    await scene.close();
  },
});

Deno.test({
  name: "complete() offers workloads that there are recommendations for, and their policies",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "pod-of-web", { limit: 1, own: 1 });
    const records = shopRecords();
    scene.rightsizing.reports = [
      ...reportsOf(records),
      ...reportsOf(records.slice(0, 1), "other"),
    ];
    assert.deepEqual(await completed(scene, "recommend", ""), ["db", "log", "web", ":4"]);
    assert.deepEqual(await completed(scene, "recommend", "-n", "other", ""), ["web", ":4"]);
    assert.deepEqual(await completed(scene, "recommend", "web", ""), [":4"]);
    assert.deepEqual(await completed(scene, "recommend", "--policy", ""), [
      "all",
      "databases",
      ":4",
    ]);
    assert.deepEqual(await completed(scene, "recommend", "-n", "other", "--policy="), [
      "--policy=all",
      ":4",
    ]);
    assert.deepEqual(await completed(scene, "recommend", "-o", "p"), ["patch", ":4"]);
    assert.deepEqual(await completed(scene, "top", "-o", "p"), [":4"]);
    // Two of one name are reported apart.
    const [web, db] = records;
    assert.ok(web !== undefined && db !== undefined);
    const twin = { ...db, workload: { ...db.workload, name: "web" } };
    scene.rightsizing.reports = reportsOf([web, twin]);
    assert.deepEqual(await completed(scene, "recommend", ""), [
      "deployment/web",
      "statefulset/web",
      ":4",
    ]);
    await scene.close();
  },
});

Deno.test({
  name: "complete() offers workloads with replicas that may be placed",
  permissions: "none",
  async fn() {
    const scene = placedScene(
      { nodes: [] },
      { kind: "StatefulSet", name: "db", nodes: [] },
      { name: "cart", namespace: "far", nodes: [] },
    );
    assert.deepEqual(await completed(scene, "pl"), ["placement", ":4"]);
    assert.deepEqual(await completed(scene, "placement", ""), ["db", "web", ":4"]);
    assert.deepEqual(await completed(scene, "placement", "-n", "far", ""), ["cart", ":4"]);
    assert.deepEqual(await completed(scene, "placement", "web", ""), [":4"]);
    assert.deepEqual(await completed(scene, "placement", "--w"), ["--watch", ":4"]);
    assert.deepEqual(await completed(scene, "placement", "-o", "w"), ["wide", ":4"]);
    addShopWorkload(scene, { kind: "StatefulSet", name: "web", nodes: [] });
    assert.deepEqual(await completed(scene, "placement", "deployment"), ["deployment/web", ":4"]);
    scene.placement.hidden.add("statuses");
    assert.deepEqual(await completed(scene, "placement", ""), [":4"]);
    await scene.close();
  },
});

Deno.test({
  name: "complete() offers nothing when there is no cluster, and hands the cluster flags on",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    const asked: unknown[] = [];
    const connect = (options: unknown) => {
      asked.push(options);
      return Promise.reject(new Error("no cluster"));
    };
    const args = ["__complete", "top", "--kubeconfig", "k", "--context=c", ""];
    assert.equal(await runCoalloc(args, { ...scene.world, connect }), 0);
    assert.equal(scene.out, ":4\n");
    assert.deepEqual(asked, [{ kubeconfig: "k", context: "c" }]);
    await scene.close();
  },
});

Deno.test({
  name: "completionScript() asks the program itself, for every shell",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    for (const shell of COMPLETION_SHELLS) {
      scene.out = "";
      assert.equal(await scene.run("completion", shell), 0);
      assert.match(scene.out, /coalloc __complete/, shell);
    }
    await scene.close();
  },
});
