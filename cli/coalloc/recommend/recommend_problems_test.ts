/** What `recommend` says where it can't show what is asked for. */
import assert from "node:assert/strict";
import { reportsOf, shopRecords, storedPolicy } from "../../../tests/fixtures/cli/advised_shop.ts";
import { recommended, shopTest } from "../../../tests/fixtures/cli/shop_scene.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { runCoalloc } from "../run_coalloc.ts";

const forbidden = (resource: string): ApiError =>
  new ApiError(403, "Forbidden", `${resource} is forbidden: User "u" cannot list resource "x"`);

shopTest(
  "recommendCommand() says that it can't read an entry, and shows the others",
  async (scene) => {
    const [report] = reportsOf(shopRecords());
    assert.ok(report !== undefined);
    const [first, ...others] = report.workloads;
    assert.ok(first !== undefined);
    const spoiled = { ...first, lastApplied: "yesterday" };
    scene.rightsizing.reports = [{ ...report, workloads: [spoiled, ...others] }];
    const [code, out] = await recommended(scene);
    assert.equal(code, 0);
    assert.match(out, /^1 of .*reports$/m);
    assert.match(out, /^statefulset\/db/m);
    scene.rightsizing.reports = [report];
    assert.doesNotMatch((await recommended(scene))[1], /^1 of /m);
  },
);

shopTest(
  "recommendCommand() says which right is missing, and goes without others",
  async (scene) => {
    scene.rightsizing.templates = forbidden("deployments.apps");
    const [code, out] = await recommended(scene, "web");
    assert.equal(code, 0);
    assert.match(out, /^Cannot .*: deployments\.apps is forbidden.*can-i/m);
    assert.match(out, /request 200m..500m → 336m/);
    scene.rightsizing.reports = forbidden("recommendationreports.optipod.io");
    const [failed, , err] = await recommended(scene);
    assert.equal(failed, 1);
    assert.match(err, /^Cannot .* shop: recommendationreports\.optipod\.io is forbidden/);
    scene.rightsizing.reports = new ApiError(404, "NotFound", "404 page not found");
    const [missing, , how] = await recommended(scene);
    assert.equal(missing, 1);
    assert.match(how, / RecommendationReports; .*manifests\/crds .*rightsizing/);
  },
);

shopTest("recommendCommand() says why there is nothing, and what to do", async (scene) => {
  scene.rightsizing.reports = [];
  const [code, out] = await recommended(scene);
  assert.equal(code, 0);
  assert.match(out, /^No recommendations .*\n\nNo OptimizationPolicy /);
  scene.rightsizing.policies = [];
  assert.match((await recommended(scene))[1], /no OptimizationPolicy: /);
  scene.rightsizing.policies = forbidden("optimizationpolicies.optipod.io");
  assert.match((await recommended(scene))[1], /^No OptimizationPolicy /m);
  const [, json] = await recommended(scene, "-o", "json");
  assert.deepEqual(JSON.parse(json).workloads, []);
});

shopTest(
  "recommendCommand() asks for the namespace's policies where it may not read all",
  async (scene) => {
    scene.rightsizing.reports = [];
    const asked: unknown[] = [];
    const policies = (namespace?: string) => {
      asked.push(namespace);
      return namespace === undefined
        ? Promise.reject(forbidden("optimizationpolicies.optipod.io"))
        : Promise.resolve([]);
    };
    const { recommendations } = scene.cluster;
    const cluster = { ...scene.cluster, recommendations: { ...recommendations, policies } };
    const world = { ...scene.world, connect: () => Promise.resolve(cluster) };
    assert.equal(await runCoalloc(["recommend"], world), 0);
    assert.match(scene.out, /no OptimizationPolicy: /);
    assert.deepEqual(asked, [undefined, "shop"]);
  },
);

shopTest("recommendCommand() names the nearest workload, or the policy's state", async (scene) => {
  const problem = async (...args: string[]): Promise<string> => {
    const [code, out, err] = await recommended(scene, ...args);
    assert.deepEqual([code, out], [1, ""]);
    return err;
  };
  assert.match(await problem("webb"), /^Cannot show .* webb: .* is it deployment\/web\?\n$/);
  assert.match(await problem("cart"), / cart: .* shop .*; is -n /);
  scene.rightsizing.reports = reportsOf(shopRecords().slice(1));
  assert.match(await problem("web"), / no policy .* deployment\/web .* shop /);
  assert.match(await problem("--policy", "al"), /; kubectl get opt/);
  assert.match(await problem("--policy", "databses"), /is it platform\/databases\?/);
  assert.match(await problem("db", "--policy", "all"), /statefulset\/db has platform\/databases/);
  scene.rightsizing.policies = [storedPolicy("idle")];
  assert.match(
    await problem("--policy", "idle"),
    / idle: .*selector/,
  );
  const conditions = [{
    type: "Ready" as const,
    status: "False" as const,
    reason: "ProviderUnavailable",
    message: "prometheus:9090 does not answer",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }];
  scene.rightsizing.policies = [{ ...storedPolicy("idle"), status: { conditions } }];
  assert.match(
    await problem("--policy", "shop/idle"),
    /shop: ProviderUnavailable: prometheus:9090 does not answer\n$/,
  );
});

shopTest("recommendCommand() refuses arguments that name no workload or policy", async (scene) => {
  for (const args of [["pod/web"], ["a/b/c"], ["--policy", "a/b/c"], ["--policy", "/a"]]) {
    const [code, , err] = await recommended(scene, ...args);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, /^Cannot find (workload|policy): ".*recommend --help/);
  }
  assert.equal(await scene.run("recommend", "-o", "html"), 2);
  // Of this command alone.
  assert.equal(await scene.run("top", "-o", "patch"), 2);
});
