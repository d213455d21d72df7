import assert from "node:assert/strict";
import { parse } from "yaml";
import { ApiError } from "../../../shared/api/api_error.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import type { AdviceView } from "../../../shared/view/advice_view.ts";
import { samplePolicy } from "../../../tests/contract/support/sample_objects.ts";
import { reportsOf, shopRecords, shopTest } from "../../../tests/fixtures/cli/advised_shop.ts";
import { addMarketPod } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { usagePlot } from "./recommend_detail.ts";

const forbidden = new ApiError(403, "Forbidden", 'User "u" cannot list resource "x"');

shopTest("recommendCommand() draws usage in a terminal, in lines that fit", async (scene) => {
  scene.terminal = { columns: 100, rows: 20 };
  const [, out] = await scene.ran("recommend web");
  const plots = out.split("\n").filter((line) => /^ +[·█▓▒░─│]+$/.test(line));
  // One plot for CPU and one for memory; the sidecar's usage is not in the report.
  assert.deepEqual(plots.map((line) => [line.length, line.split("│").length]), [[71, 2], [71, 2]]);
  assert.match(out, /█ .*\bP50, .* │ .*\n/);
  assert.doesNotMatch((await scene.ran("recommend db"))[1], /█/);
});

shopTest("recommendCommand() leaves columns out that a terminal has no room for", async (scene) => {
  const lines = async (columns: number, ...args: string[]): Promise<string[]> => {
    scene.terminal = { columns, rows: 20 };
    return (await scene.ran("recommend", ...args))[1].split("\n");
  };
  const heads = async (columns: number): Promise<string> =>
    (await lines(columns))[0]?.replaceAll(/ {2,}/g, ", ") ?? "";
  const all = "WORKLOAD, CONTAINER, CPU, MEMORY, CPU LIMIT, MEMORY LIMIT, STATUS, REASON";
  assert.equal(await heads(200), all);
  assert.equal(await heads(110), "WORKLOAD, CONTAINER, CPU, MEMORY, STATUS, REASON");
  assert.equal(await heads(90), "WORKLOAD, CONTAINER, CPU, MEMORY, REASON");
  for (const line of (await lines(90)).slice(0, 5)) assert.ok(line.length <= 90, line);
  const wide = await lines(90, "-o", "wide");
  assert.match(wide[0] ?? "", /CPU LIMIT.*STATUS.*POLICY/);
  // The legend of the plots stands there once.
  assert.equal(wide.filter((line) => /█ .*\bP50,/.test(line)).length, 1);
  assert.doesNotMatch((await lines(90)).join(), /█/);
});

shopTest("recommendCommand() shows what is in force in wide tables", async (scene) => {
  const [, out] = await scene.ran("recommend -o wide");
  const [head = "", ...lines] = out.split("\n").map((line) => line.replaceAll(/ {2,}/g, ", "));
  assert.match(
    head,
    /, CPU IN FORCE, MEMORY IN FORCE, STATUS, REASON, POLICY, PODS, RECOMMENDED, APP/,
  );
  for (
    const line of [
      /^statefulset\/db, .*, 1000m, 1Gi, Skipped, .*, platform\/databases, 2, 4m, 26h$/,
      /^What to do: .*metricsConfig\.minSamples/,
      / 4m ago, .* 26h ago in place$/,
      /CPU, request 1000m → 1500m; limit 2000m → 3000m; .* 1000m, limit 2000m$/,
    ]
  ) assert.ok(lines.some((one) => line.test(one)), String(line));
});

shopTest("recommendCommand() gives programs one view, as JSON and as YAML", async (scene) => {
  const view: AdviceView = JSON.parse((await scene.ran("recommend db -o json"))[1]);
  const amounts = { cpu: 1000, memory: 2 ** 30, cpuLimit: 2000, memoryLimit: 2 ** 30 };
  const changes = { cpu: { grows: 1000, shrinks: 0 }, memory: { grows: 0, shrinks: 2 ** 30 } };
  assert.deepEqual(view, {
    workloads: [{
      ...{ kind: "StatefulSet", namespace: "shop", name: "db", exists: true, pods: 2 },
      policy: { namespace: "platform", name: "databases" },
      ...{ status: "Skipped", reason: "UnsafeMemoryDecrease" },
      means: sentenceOf("UnsafeMemoryDecrease"),
      remedy: remedyFor("UnsafeMemoryDecrease"),
      message: shopRecords()[1]?.message,
      lastRecommendation: "2025-12-31T23:56:00.000Z",
      lastApplied: "2025-12-30T22:00:00.000Z",
      lastApplyMethod: "InPlace",
      containers: [{
        ...{ name: "db", sidecar: false },
        template: amounts,
        pods: [{ count: 2, ...amounts }],
        recommended: {
          ...{ cpu: 1500, memory: 512 * 2 ** 20, cpuLimit: 3000, memoryLimit: 600 * 2 ** 20 },
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
  assert.deepEqual(parse((await scene.ran("recommend sts/db -o yaml"))[1]), view);
  const [app] = JSON.parse((await scene.ran("recommend web -o json"))[1]).workloads[0].containers;
  assert.deepEqual(app.pods.map(({ count, cpu }: Record<string, number>) => [count, cpu]), [
    [2, 500],
    [1, 200],
  ]);
  assert.equal(app.usage.memory.p90, 73_847_603);
});

shopTest("recommendCommand() looks in the namespaces that are asked for", async (scene) => {
  const [web] = shopRecords();
  assert.ok(web !== undefined);
  const far = { ...web, workload: { ...web.workload, namespace: "far" } };
  scene.rightsizing.reports = [...reportsOf(shopRecords()), ...reportsOf([far], "far")];
  const rows = [
    [[], 3],
    [["-A"], 4],
    [["-n", "far"], 1],
    [["--policy", "all"], 2],
    [["--policy", "platform/databases"], 1],
  ] as const;
  for (const [args, count] of rows) {
    const [, json] = await scene.ran("recommend", "-o", "json", ...args);
    assert.equal(JSON.parse(json).workloads.length, count, args.join());
  }
  const [, all] = await scene.ran("recommend -A");
  assert.match(all, /^NAMESPACE +WORKLOAD.*^far +deployment\/web +app +- → 336m/ms);
  assert.equal((await scene.ran("recommend --policy shop/databases"))[0], 1);
});

shopTest("recommendCommand() counts the market's pods by original limits", async (scene) => {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "cart-5d9c7f6b8", uid: "rs" };
  const metadata = { owner, labels: { "pod-template-hash": "5d9c7f6b8" } };
  addMarketPod(scene, "cart-5d9c7f6b8-0", { limit: 900, own: 200, metadata });
  const [web] = shopRecords();
  assert.ok(web !== undefined);
  const cart = { ...web, workload: { ...web.workload, name: "cart" } };
  scene.rightsizing.reports = reportsOf([cart]);
  assert.match((await scene.ran("recommend cart"))[1], /request 100m → 336m; limit 200m$/m);
  // Without the market installed there are no original limits to find.
  scene.installed = false;
  assert.match((await scene.ran("recommend cart"))[1], /request 100m → 336m; limit 900m$/m);
});

shopTest("recommendCommand() reports a failure, a single pod, a bare message", async (scene) => {
  const [web] = shopRecords();
  assert.ok(web !== undefined);
  const { reason: _reason, ...failed } = web;
  const message = "the loop has failed";
  scene.rightsizing.reports = reportsOf([
    { ...failed, status: "Error", message },
    { ...failed, workload: { ...web.workload, kind: "DaemonSet", name: "log" } },
  ]);
  scene.terminal = { columns: 100, rows: 20, color: true };
  assert.ok((await scene.ran("recommend"))[1].includes("\x1b[31mError\x1b[39m"));
  scene.terminal = undefined;
  const [, shown] = await scene.ran("recommend web");
  assert.match(shown, /^Deployment shop\/web: Error, .* 3 pods\n/);
  assert.equal(shown.split("\n")[1], message);
  assert.doesNotMatch(shown, /What to do/);
  assert.match((await scene.ran("recommend log"))[1], /^DaemonSet shop\/log: .*, 1 pod\n/);
  scene.rightsizing.templates = [];
  assert.match((await scene.ran("recommend web"))[1], /, 3 pods; .*exists\n/);
  const means = sentenceOf("RecommendOnly");
  scene.rightsizing.reports = reportsOf([{ ...web, message: means }]);
  assert.ok((await scene.ran("recommend web"))[1].includes(`\nRecommendOnly: ${means}\n`));
});

shopTest("recommendCommand() goes without what it may not read", async (scene) => {
  scene.rightsizing.templates = forbidden;
  const [code, out] = await scene.ran("recommend web");
  assert.equal(code, 0);
  assert.match(out, /request 200m..500m → 336m.*^Cannot .*administrator/ms);
  for (const status of [403, 404, 0]) {
    scene.rightsizing.reports = new ApiError(status, "", "no");
    assert.equal((await scene.ran("recommend"))[0], 1);
  }
  scene.rightsizing.reports = reportsOf(shopRecords());
  scene.rightsizing.templates = new ApiError(0, "Unreachable", "connection refused");
  assert.match((await scene.ran("recommend"))[2], /connection refused/);
});

shopTest("recommendCommand() asks for policies of the namespace at least", async (scene) => {
  scene.rightsizing.reports = [];
  const asked: unknown[] = [];
  scene.cluster.recommendations.policies = (namespace) => {
    asked.push(namespace);
    return namespace === undefined ? Promise.reject(forbidden) : Promise.resolve([]);
  };
  assert.match((await scene.ran("recommend"))[1], /no OptimizationPolicy: /);
  assert.deepEqual(asked, [undefined, "shop"]);
});

shopTest("recommendCommand() names the state of a policy without a workload", async (scene) => {
  const message = "prometheus:9090 does not answer";
  const ready = {
    ...{ type: "Ready", status: "False", reason: "ProviderUnavailable", message } as const,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  scene.rightsizing.policies = [{ ...samplePolicy("idle"), status: { conditions: [ready] } }];
  const [code, , err] = await scene.ran("recommend --policy shop/idle");
  assert.equal(code, 1);
  assert.ok(err.endsWith(`shop: ProviderUnavailable: ${message}\n`), err);
  scene.rightsizing.policies = forbidden;
  assert.equal((await scene.ran("recommend --policy idle"))[0], 1);
});

const USAGE = { samples: 9, min: 20, p50: 50, p90: 60, p95: 61, p99: 62, max: 80 };
const same = (value: number) => ({
  ...{ samples: 1, min: value, p50: value, p90: value, p95: value, p99: value, max: value },
});

pure("usagePlot() shows where the samples lie, and the recommended request among them", () => {
  const rows = [
    [USAGE, { recommended: 100, width: 10 }, "··███▓───│"],
    [USAGE, { recommended: 30, width: 16 }, "····██│███▓▓────"],
    [USAGE, { width: 16 }, "····██████▓▓────"],
    [{ ...USAGE, p95: 70, p99: 75 }, { width: 16 }, "····██████▓▓▒▒░─"],
    [same(0), { width: 5 }, "█····"],
    [same(0), { recommended: 50, width: 5 }, "█···│"],
    [same(40), { recommended: 48, width: 6 }, "·····│"],
    [same(40), { width: 5 }, "····█"],
  ] as const;
  for (const [usage, options, plot] of rows) assert.equal(usagePlot(usage, options), plot);
});
