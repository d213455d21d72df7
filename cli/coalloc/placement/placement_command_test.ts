import assert from "node:assert/strict";
import { parse } from "yaml";
import {
  addShopWorkload,
  NOW,
  placedTest,
  placementOf,
  remember,
  shopNode,
  type ShopWorkload,
} from "../../../tests/fixtures/placement/placed_shop.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { runCoalloc } from "../run_coalloc.ts";
import type { PlacementView } from "./placement_view.ts";

const HALF = { "spot-percentage": "50" };
const ON_DEMAND = ["od-1", "od-1"];
const SPOT_SELECTOR = { "karpenter.sh/capacity-type": "spot" };

/** One workload for each phase that a look can find. */
const SHOP: readonly ShopWorkload[] = [
  { nodes: ["spot-1", "spot-1", "spot-1", "spot-1", "od-1"] },
  { kind: "StatefulSet", name: "db", nodes: ["spot-1", "od-1", "spot-1"], words: HALF },
  { name: "bad", nodes: ["od-1"], words: { "spot-percentage": "lots" } },
  { name: "fit", nodes: ["od-1", "spot-1"], words: HALF },
  {
    name: "late",
    nodes: ON_DEMAND,
    words: { ...HALF, "disruption-schedule": "0 2 * * *", "disruption-duration": "1h" },
  },
  { name: "off", nodes: ["od-1"], words: { enabled: "false" } },
  { name: "rest", nodes: ON_DEMAND, words: { ...HALF, paused: "true" } },
  { name: "short", nodes: ON_DEMAND, words: HALF },
  { name: "soon", nodes: ON_DEMAND, words: HALF },
  { name: "wait", nodes: ["od-1", ""], words: HALF },
];

placedTest("placementCommand() writes what others say on its own lines, and nothing to obey", {
  workloads: [{
    name: "web\x1b[2J\nforged",
    nodes: ["od-1"],
    words: { "spot-percentage": "\x1b[2J\u202e\nforged" },
  }],
  async fn(scene) {
    for (const args of [[], ["web\x1b[2J\nforged"]]) {
      scene.out = "";
      await placementOf(scene, ...args);
      assert.match(scene.out, /forged/);
      assert.doesNotMatch(scene.out, /(?!\n)[\p{Cc}\p{Cf}]|^forged/mu);
    }
  },
});

placedTest("placementCommand() shows where each workload stands, and what comes next", {
  workloads: SHOP,
  async fn(scene) {
    remember(scene, "soon", { lastMoveAtMs: NOW - 4000 });
    remember(scene, "short", { shortage: { untilMs: NOW + 60_000, rounds: 1 } });
    const [code, out, err] = await placementOf(scene);
    assert.deepEqual([code, err], [0, ""]);
    const table = out.split("\n").map((line) => line.split(/ {2,}/));
    assert.deepEqual(table.slice(0, 10).map((cells) => cells.slice(0, 4)), [
      ["WORKLOAD", "SPOT", "ON-DEMAND", "PENDING"],
      ["deployment/bad", "0", "1", "0"],
      ["deployment/fit", "1/1", "1/1", "0"],
      ["deployment/late", "0/1", "2/1", "0"],
      ["deployment/rest", "0/1", "2/1", "0"],
      ["deployment/short", "0/1", "2/1", "0"],
      ["deployment/soon", "0/1", "2/1", "0"],
      ["deployment/wait", "0/1", "1/1", "1"],
      ["deployment/web", "4/3", "1/2", "0"],
      ["statefulset/db", "2/1", "1/2", "0"],
    ]);
    const next = (name: string) => table.find(([cell]) => cell?.endsWith(`/${name}`))?.slice(4);
    assert.match(next("bad")?.join() ?? "", /error,none: .*spot-percentage .*"lots"/);
    assert.deepEqual(next("fit"), ["as wished", "-"]);
    assert.match(next("late")?.join() ?? "", /02:00:00Z,.* late-1 .* to spot .* 02:00:00Z$/);
    assert.deepEqual(next("rest"), ["paused", "none: spotalis.io/paused is set"]);
    assert.match(next("short")?.join() ?? "", /^fall.* 00:01:00Z,.* short-1 .* 00:01:00Z$/);
    assert.match(next("soon")?.join() ?? "", /^cool.* 00:00:06Z,.* soon-1 .* 00:00:06Z$/);
    assert.match(next("wait")?.join() ?? "", /^not whole,none: .* 1 Ready/);
    assert.match(next("web")?.join() ?? "", /^converging,.* web-3 .* to on-demand$/);
    assert.match(next("db")?.join() ?? "", /^converging,.* db-0 .* to on-demand$/);
    assert.match(out, /\n\n1 workload .*-o wide .*\n$/);
    const [, wide] = await placementOf(scene, "-o", "wide");
    assert.match(wide, /^WORKLOAD +REVISION +WISH +SPOT/);
    assert.match(
      wide,
      /^deployment\/off .* takes no part +none: spotalis.io\/enabled is not "true"$/m,
    );
    assert.doesNotMatch(wide, /-o wide shows/);
  },
});

placedTest("placementCommand() shows the longer cooldown after moves that have not helped", {
  workloads: [{ name: "web", nodes: ["spot-1", "spot-1", "spot-1", "spot-1", "od-1"] }],
  async fn(scene) {
    const wish = { spotPercentage: 60, minOnDemand: 0 };
    const ineffectiveMoves = { count: 1, misplaced: 1, spec: wish };
    remember(scene, "web", { lastMoveAtMs: NOW - 4000, ineffectiveMoves });
    const [, out] = await placementOf(scene, "web");
    assert.match(out, /^Deployment shop\/web: cooldown until 00:00:36Z, 5 replicas$/m);
    assert.match(out, /\(.* 40 s .* 2 in a row .*webhook/);
    assert.match(out, /^Next: .* web-3 .* 00:00:36Z$/m);
  },
});

placedTest("placementCommand() reports one workload in detail, by each of its names", {
  workloads: SHOP,
  async fn(scene) {
    remember(scene, "web", { lastMoveAtMs: NOW - 4000 });
    const asWords = await placementOf(scene, "web");
    const [code, text, err] = asWords;
    assert.deepEqual([code, err], [0, ""]);
    assert.match(
      text,
      /^Deployment shop\/web: .*\nMoveCooldown: .*\nWhat to do: .*\nWish: 60 % spot; /,
    );
    assert.match(
      text,
      / spot .* 4 of 3\n.* on-demand .* 1 of 2\nNext: .* web-3 .* 00:00:06Z\n\nPOD /,
    );
    for (const word of ["deployment/web", "deploy/web"]) {
      assert.deepEqual(await placementOf(scene, word), asWords, word);
    }
    const [, bad] = await placementOf(scene, "bad");
    assert.match(bad, /^ConfigurationError: .*\/spot-percentage .*"lots"/m);
    assert.match(bad, /^ {2}on-demand {2}1$/m);
    assert.doesNotMatch(bad, /Next:|█/);
    const [, late] = await placementOf(scene, "late");
    assert.match(late, /^Wish: 50 % spot; moved from 0 2 \* \* \* on for 60 min$/m);
  },
});

placedTest("placementCommand() shows revisions apart while a rollout lasts", {
  workloads: [],
  async fn(scene) {
    const old = { labels: { "pod-template-hash": "old" } };
    const { tables } = scene.api.store;
    addShopWorkload(scene, {
      nodes: ["spot-1", "spot-1", "od-1", "od-1"],
      words: HALF,
      replicas: { updated: 2 },
    });
    for (const name of ["web-0", "web-1"]) {
      tables.Pod.modify(
        `shop/${name}`,
        ({ metadata, ...pod }) => ({ ...pod, metadata: { ...metadata, ...old } }),
      );
    }
    const [, out] = await placementOf(scene);
    assert.match(out, /^deployment\/web +h +0\/1 +2\/1 +0 +not whole/m);
    assert.match(out, /^ +old +2\/1 +0\/1 +0$/m);
    const [, told] = await placementOf(scene, "web");
    assert.match(
      told,
      /^ {2}revision h\n {2}spot +· +0 of 1\n {2}on-demand {2}█▒ {2}2 of 1\n {2}revision old\n/m,
    );
    assert.match(told, /^POD +CLASS +NODE +REVISION +STATE$/m);
  },
});

placedTest("placementCommand() names budgets that block, and pods that may not go", {
  workloads: [{ nodes: ["spot-1", "spot-1"], words: HALF }],
  async fn(scene) {
    const { tables } = scene.api.store;
    tables.PodDisruptionBudget.seed({
      metadata: { name: "web", namespace: "shop", uid: "", resourceVersion: "" },
      selector: { matchLabels: { app: "web" }, matchExpressions: [] },
      disruptionsAllowed: 0,
      current: true,
      freesUnready: false,
    });
    const [, out] = await placementOf(scene);
    assert.match(out, /budget +none: pod web-1: budget web /);
    const [, told] = await placementOf(scene, "web");
    assert.match(told, /^BlockedByPDB: .* \(pod web-1: budget web/m);
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    for (const name of ["web-0", "web-1"]) {
      tables.Pod.modify(
        `shop/${name}`,
        ({ metadata, ...pod }) => ({ ...pod, metadata: { ...metadata, annotations } }),
      );
    }
    assert.match(
      (await placementOf(scene))[1],
      /none may move +none: pod web-1: annotation karpenter.sh\/do-not-disrupt is "true"$/m,
    );
  },
});

placedTest("placementCommand() reports nodes about to go, and of pods that find no spot node", {
  workloads: [{ nodes: ["dying", "od-1"], words: HALF }, {
    name: "api",
    nodes: ["", "od-1"],
    words: HALF,
    changes: { 0: { unschedulableSinceMs: NOW - 20_000, nodeSelector: SPOT_SELECTOR } },
  }],
  async fn(scene) {
    const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
    scene.api.store.tables.Node.seed(shopNode("dying", "spot", { taints }));
    const [, out] = await placementOf(scene);
    assert.match(out, /^deployment\/web .* web-0 .* \(taint karpenter.sh\/disrupted\)/m);
    assert.match(
      out,
      /^deployment\/api +0\/1 +1\/1 +1 +not whole +new pods .* unless pod api-0 .* at 00:00:40Z$/m,
    );
  },
});

placedTest("placementCommand() gives programs one view, as JSON and as YAML", {
  workloads: [{ nodes: ["spot-1", "spot-1"], words: { ...HALF, "min-on-demand": "1" } }],
  async fn(scene) {
    remember(scene, "web", { lastMoveAtMs: NOW - 4000 });
    const [, json] = await placementOf(scene, "-o", "json");
    const view: PlacementView = JSON.parse(json);
    const [{ next } = {}] = view.workloads;
    assert.match(next?.words ?? "", / web-1 .* on-demand$/);
    const split = { desired: { spot: 1, "on-demand": 1 }, actual: { spot: 2, "on-demand": 0 } };
    const pending = { spot: 0, "on-demand": 0 };
    const pod = { revision: "h", node: "spot-1", class: "spot", ready: true, notes: [] };
    assert.deepEqual(view, {
      workloads: [{
        namespace: "shop",
        kind: "Deployment",
        name: "web",
        phase: "Cooldown",
        until: "2026-01-01T00:00:06.000Z",
        reason: "MoveCooldown",
        means: sentenceOf("MoveCooldown"),
        remedy: remedyFor("MoveCooldown"),
        message: "it lasts 10 s after a move",
        next: {
          words: next?.words,
          pod: "web-1",
          to: "on-demand",
          notBefore: "2026-01-01T00:00:06.000Z",
        },
        wish: { spotPercentage: 50, minOnDemand: 1, paused: false },
        replicas: 2,
        ...split,
        pending,
        revisions: [{ revision: "h", ...split, pending }],
        pods: [{ name: "web-0", ...pod }, { name: "web-1", ...pod }],
      }],
      notes: [],
    });
    assert.deepEqual(parse((await placementOf(scene, "-o", "yaml"))[1]), view);
  },
});

placedTest("placementCommand() looks in the namespaces that are asked for", {
  workloads: [{ nodes: ["od-1"] }, { namespace: "far", name: "db", nodes: ["od-1"] }],
  async fn(scene) {
    const names = async (...args: string[]): Promise<string> =>
      JSON.parse((await placementOf(scene, "-o", "json", ...args))[1]).workloads
        .map(({ name }: { name: string }) => name).join();
    assert.deepEqual([await names(), await names("-A"), await names("-n", "far")], [
      "web",
      "db,web",
      "db",
    ]);
    assert.match(
      (await placementOf(scene, "-A"))[1],
      /^NAMESPACE +WORKLOAD .*\nfar +deployment\/db /,
    );
    assert.equal((await placementOf(scene, "db", "-A"))[0], 0);
  },
});

placedTest("placementCommand() leaves columns out that a terminal has no room for", {
  workloads: SHOP,
  async fn(scene) {
    const head = async (columns: number): Promise<string> => {
      scene.out = "";
      const size = () => ({ columns, rows: 40 });
      const world = { ...scene.world, outIsTerminal: true, noColor: "1", size };
      assert.equal(await runCoalloc(["placement"], world), 0);
      return scene.out.split("\n")[0]?.replaceAll(/ {2,}/g, " ") ?? "";
    };
    assert.equal(await head(300), "WORKLOAD SPOT ON-DEMAND PENDING PHASE NEXT");
    assert.equal(await head(100), "WORKLOAD SPOT ON-DEMAND PENDING PHASE");
    // Rather cut than left out.
    assert.equal(await head(130), "WORKLOAD SPOT ON-DEMAND PENDING PHASE NEXT");
    const lines = scene.out.split("\n");
    assert.equal(Math.max(...lines.map((line) => line.length)), 130);
    assert.match(lines[1] ?? "", /^deployment\/bad .* none: annotation spotalis.*…$/);
  },
});
