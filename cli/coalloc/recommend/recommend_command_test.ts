import assert from "node:assert/strict";
import { parse } from "yaml";
import { reportsOf, shopRecords } from "../../../tests/fixtures/cli/advised_shop.ts";
import { addMarketPod } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { recommended, shopTest } from "../../../tests/fixtures/cli/shop_scene.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { runCoalloc } from "../run_coalloc.ts";
import type { AdviceView } from "./advice_view.ts";

shopTest(
  "recommendCommand() reports one workload in detail, with its usage in figures",
  async (scene) => {
    for (const argument of ["web", "deployment/web", "deploy/web"]) {
      const [code, out] = await recommended(scene, argument);
      assert.equal(code, 0);
      assert.match(out, /^Deployment shop\/web: Recommended, .* 3 pods\nRecommendOnly: /);
      assert.match(
        out,
        /\n {2}app\n.* 200m\.\.500m → 336m; .*\n.* 2880 samples\n.* 128Mi → 84\.5Mi/,
      );
      assert.match(out, /\n {2}proxy \(sidecar\)\n.* → 50m\n.* → 64Mi\n/);
    }
    const [code, , err] = await recommended(scene, "statefulset/web");
    assert.equal(code, 1);
    assert.match(err, / shop .*StatefulSet; .*deployment\/web\?/);
  },
);

shopTest("recommendCommand() draws usage in a terminal, in lines that fit", async (scene) => {
  const world = { ...scene.world, outIsTerminal: true, noColor: "1" };
  assert.equal(await runCoalloc(["recommend", "web"], world), 0);
  const plots = scene.out.split("\n").filter((line) => /^ +[·█▓▒░─│]+$/.test(line));
  // Of CPU and memory; the sidecar's usage is not in the report.
  assert.deepEqual(plots.map((line) => [line.length, line.split("│").length]), [[71, 2], [71, 2]]);
  assert.match(scene.out, /█ up to P50, .* │ the recommended request\n/);
  scene.out = "";
  await runCoalloc(["recommend", "db"], world);
  assert.doesNotMatch(scene.out, /█/);
});

shopTest("recommendCommand() leaves columns out that a terminal has no room for", async (scene) => {
  const lines = async (columns: number, ...args: string[]): Promise<string[]> => {
    scene.out = "";
    const world = {
      ...scene.world,
      ...{ outIsTerminal: true, noColor: "1", size: () => ({ columns, rows: 20 }) },
    };
    assert.equal(await runCoalloc(["recommend", ...args], world), 0);
    return scene.out.split("\n");
  };
  const heads = async (columns: number, ...args: string[]): Promise<string> =>
    (await lines(columns, ...args))[0]?.replaceAll(/ {2,}/g, ", ") ?? "";
  const all = "WORKLOAD, CONTAINER, CPU, MEMORY, CPU LIMIT, MEMORY LIMIT, STATUS, REASON";
  assert.equal(await heads(200), all);
  assert.equal(await heads(110), "WORKLOAD, CONTAINER, CPU, MEMORY, STATUS, REASON");
  assert.equal(await heads(90), "WORKLOAD, CONTAINER, CPU, MEMORY, REASON");
  for (const line of (await lines(90)).slice(0, 5)) assert.ok(line.length <= 90, line);
  assert.match(await heads(90, "-o", "wide"), /CPU LIMIT.*STATUS.*POLICY/);
  // What the plots' characters are stands there once.
  assert.equal(
    (await lines(90, "-o", "wide")).filter((line) => /█ up to P50/.test(line)).length,
    1,
  );
  assert.equal((await lines(90)).filter((line) => /█/.test(line)).length, 0);
});

shopTest(
  "recommendCommand() shows reasons, remedies and what is in force in wide tables",
  async (scene) => {
    const [, out] = await recommended(scene, "-o", "wide");
    assert.match(
      out,
      /CPU IN FORCE +MEMORY IN FORCE +STATUS +REASON +POLICY +PODS +RECOMMENDED +APP/,
    );
    assert.match(
      out,
      /^statefulset\/db .* 1000m +1Gi +Skipped .* platform\/databases +2 +4m +26h$/m,
    );
    assert.match(out, /^UnsafeMemoryDecrease: .* \(db: 512Mi .* 900Mi/m);
    assert.match(out, /^What to do: .*metricsConfig\.minSamples/m);
    assert.match(out, /^Recommended 4m ago, last applied 26h ago in place$/m);
    assert.match(
      out,
      /CPU +request 1000m → 1500m; limit 2000m → 3000m; in force 1000m, limit 2000m$/m,
    );
    assert.match(out, /^ +why +P95 of 5040 samples in 7d$/m);
    const [, usual] = await recommended(scene);
    assert.doesNotMatch(usual, /What to do|IN FORCE/);
  },
);

shopTest("recommendCommand() gives programs one view, as JSON and as YAML", async (scene) => {
  const [, json] = await recommended(scene, "db", "-o", "json");
  const view: AdviceView = JSON.parse(json);
  const amounts = { cpu: 1000, memory: 2 ** 30, cpuLimit: 2000, memoryLimit: 2 ** 30 };
  const changes = { cpu: { grows: 1000, shrinks: 0 }, memory: { grows: 0, shrinks: 2 ** 30 } };
  assert.deepEqual(view, {
    workloads: [{
      kind: "StatefulSet",
      namespace: "shop",
      name: "db",
      policy: { namespace: "platform", name: "databases" },
      status: "Skipped",
      reason: "UnsafeMemoryDecrease",
      means: sentenceOf("UnsafeMemoryDecrease"),
      remedy: remedyFor("UnsafeMemoryDecrease"),
      message: shopRecords()[1]?.message,
      lastRecommendation: "2025-12-31T23:56:00.000Z",
      lastApplied: "2025-12-30T22:00:00.000Z",
      lastApplyMethod: "InPlace",
      exists: true,
      pods: 2,
      containers: [{
        name: "db",
        sidecar: false,
        template: amounts,
        pods: [{ count: 2, ...amounts }],
        recommended: {
          cpu: 1500,
          memory: 512 * 2 ** 20,
          cpuLimit: 3000,
          memoryLimit: 600 * 2 ** 20,
        },
        inForce: { cpu: 1000, memory: 2 ** 30, cpuLimit: 2000 },
        explanation: "P95 of 5040 samples in 7d",
        changes,
      }],
      changes,
    }],
    changes,
    notes: [],
  });
  const [, yaml] = await recommended(scene, "db", "-o", "yaml");
  assert.deepEqual(parse(yaml), view);
  const [, web] = await recommended(scene, "web", "-o", "json");
  const [app] = JSON.parse(web).workloads[0].containers;
  assert.deepEqual(app.pods.map(({ count, cpu }: Record<string, number>) => [count, cpu]), [
    [2, 500],
    [1, 200],
  ]);
  assert.equal(app.usage.memory.p90, 73_847_603);
});

shopTest("recommendCommand() looks in the namespaces that are asked for", async (scene) => {
  const records = shopRecords().slice(0, 1).map((one) => ({
    ...one,
    workload: { ...one.workload, namespace: "far" },
  }));
  scene.rightsizing.reports = [...reportsOf(shopRecords()), ...reportsOf(records, "far")];
  const count = async (...args: string[]): Promise<number> =>
    JSON.parse((await recommended(scene, "-o", "json", ...args))[1]).workloads.length;
  assert.deepEqual([await count(), await count("-A"), await count("-n", "far")], [3, 4, 1]);
  const [, all] = await recommended(scene, "-A");
  assert.match(all, /^NAMESPACE +WORKLOAD/);
  assert.match(all, /^far +deployment\/web +app +- → 336m/m);
  assert.deepEqual(await count("--policy", "all"), 2);
  assert.deepEqual(await count("--policy", "platform/databases"), 1);
  assert.equal((await recommended(scene, "--policy", "shop/databases"))[0], 1);
});

shopTest(
  "recommendCommand() counts the market's pods with their original limits",
  async (scene) => {
    const { metadata, ...pod } = addMarketPod(scene, "cart-5d9c7f6b8-0", { limit: 900, own: 200 });
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "cart-5d9c7f6b8", uid: "rs" };
    scene.api.store.tables.Pod.modify("shop/cart-5d9c7f6b8-0", () => ({
      ...pod,
      metadata: { ...metadata, owner, labels: { "pod-template-hash": "5d9c7f6b8" } },
    }));
    const [record] = shopRecords();
    assert.ok(record !== undefined);
    scene.rightsizing.reports = reportsOf([
      { ...record, workload: { ...record.workload, name: "cart" } },
    ]);
    assert.match((await recommended(scene, "cart"))[1], /request 100m → 336m; limit 200m$/m);
    // Without the market installed there are no original limits to find.
    scene.installed = false;
    assert.match((await recommended(scene, "cart"))[1], /request 100m → 336m; limit 900m$/m);
  },
);

shopTest(
  "recommendCommand() reports a failure, a single pod, and a message without a reason",
  async (scene) => {
    const [web] = shopRecords();
    assert.ok(web !== undefined);
    const failure = "the loop has failed";
    const { reason: _reason, ...failed } = web;
    scene.rightsizing.reports = reportsOf([
      { ...failed, status: "Error", message: failure },
      { ...failed, workload: { ...web.workload, kind: "DaemonSet", name: "log" } },
    ]);
    const world = { ...scene.world, outIsTerminal: true };
    assert.equal(await runCoalloc(["recommend"], world), 0);
    assert.ok(scene.out.includes("\x1b[31mError\x1b[0m"));
    const [, shown] = await recommended(scene, "web");
    assert.match(shown, /^Deployment shop\/web: Error, .* 3 pods\n/);
    assert.equal(shown.split("\n")[1], failure);
    assert.doesNotMatch(shown, /What to do/);
    assert.match((await recommended(scene, "log"))[1], /^DaemonSet shop\/log: .*, 1 pod\n/);
    scene.rightsizing.templates = [];
    assert.match((await recommended(scene, "web"))[1], /, 3 pods; .*exists\n/);
    const means = sentenceOf("RecommendOnly");
    scene.rightsizing.reports = reportsOf([{ ...web, message: means }]);
    assert.ok((await recommended(scene, "web"))[1].includes(`\nRecommendOnly: ${means}\n`));
  },
);
