import assert from "node:assert/strict";
import { parse } from "yaml";
import { ApiError } from "../../../shared/api/api_error.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { nextText, phaseTone } from "../../../shared/view/placed_workloads.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import type { CoallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import {
  addShopWorkload,
  NOW,
  placedTest,
  placementOf,
  remember,
  SHOP,
} from "../../../tests/fixtures/placement/placed_shop.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { paint } from "../../terminal/terminal_text.ts";
import type { Cluster } from "../ports.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { fittedScreen } from "./placement_command.ts";
import { splitBar } from "./placement_detail.ts";
import type { PlacementView } from "./placement_view.ts";

const UNTIL = "2026-01-01T00:00:06.000Z";
const HALF = { "spot-percentage": "50" };
const WEB = [{ nodes: ["spot-1", "spot-1"], annotations: HALF }];
const PLAIN = [{ nodes: ["spot-1"] }];
placedTest("placementCommand() shows those that take no part if asked to", SHOP, async (scene) => {
  const [code, wide, err] = await placementOf(scene, "-o", "wide");
  assert.deepEqual([code, err], [0, ""]);
  assert.match(wide, /^WORKLOAD +REVISION +SPEC +SPOT/);
  const off = /^deployment\/off .* spotalis\.io\/enabled .*"true"$/m;
  assert.match(wide, off);
  assert.doesNotMatch(wide, /-o wide/);
});

placedTest("placementCommand() reports one workload in detail", SHOP, async (scene) => {
  const [, bad] = await placementOf(scene, "bad");
  assert.match(bad, /^ConfigurationError: .*\/spot-percentage .*"lots"/m);
  assert.match(bad, /^ {2}on-demand {2}1$/m);
  assert.doesNotMatch(bad, /Next:|█/);
  const [, late] = await placementOf(scene, "late");
  assert.match(late, /^Spec: 50 % .* 0 2 \* \* \* .* 60 min$/m);
});

placedTest("placementCommand() shows revisions apart while a rollout lasts", [], async (scene) => {
  const old = { labels: { "pod-template-hash": "old" } };
  const { tables } = scene.api.store;
  addShopWorkload(scene, {
    nodes: ["spot-1", "spot-1", "od-1", "od-1"],
    annotations: HALF,
    replicas: { updated: 2 },
  });
  for (const name of ["web-0", "web-1"]) {
    tables.Pod.modify(`shop/${name}`, (pod) => (
      { ...pod, metadata: { ...pod.metadata, ...old } }
    ));
  }
  const [, out] = await placementOf(scene);
  assert.match(out, /^deployment\/web +h +0\/1 +2\/1 +0 +not whole/m);
  assert.match(out, /^ +old +2\/1 +0\/1 +0$/m);
  const [, detail] = await placementOf(scene, "web");
  assert.match(
    detail,
    /^ {2}revision h\n {2}spot +· +0 of 1\n {2}on-demand {2}█▒ {2}2 of 1\n {2}revision old\n/m,
  );
  assert.match(detail, /^POD +CLASS +NODE +REVISION +STATE$/m);
});

placedTest("placementCommand() gives programs one view, as JSON and as YAML", [{
  nodes: ["spot-1", "spot-1"],
  annotations: { ...HALF, "min-on-demand": "1" },
}], async (scene) => {
  remember(scene, "web", { lastMoveAtMs: NOW - 4000 });
  const [, json] = await placementOf(scene, "-o", "json");
  const view: PlacementView = JSON.parse(json);
  const [{ next } = {}] = view.workloads;
  assert.match(next?.action ?? "", / web-1 .* on-demand$/);
  const split = { desired: { spot: 1, "on-demand": 1 }, actual: { spot: 2, "on-demand": 0 } };
  const pending = { spot: 0, "on-demand": 0 };
  const pod = { revision: "h", node: "spot-1", class: "spot", ready: true, notes: [] };
  assert.deepEqual(view, {
    workloads: [{
      ...{ namespace: "shop", kind: "Deployment", name: "web", phase: "Cooldown" },
      until: UNTIL,
      reason: "MoveCooldown",
      means: sentenceOf("MoveCooldown"),
      remedy: remedyFor("MoveCooldown"),
      message: "it lasts 10 s after a move",
      next: { action: next?.action, pod: "web-1", to: "on-demand", notBefore: UNTIL },
      spec: { spotPercentage: 50, minOnDemand: 1, paused: false },
      ...{ replicas: 2, ...split, pending },
      revisions: [{ revision: "h", ...split, pending }],
      pods: [{ name: "web-0", ...pod }, { name: "web-1", ...pod }],
    }],
    notes: [],
  });
  assert.deepEqual(parse((await placementOf(scene, "deploy/web", "-o", "yaml"))[1]), view);
});

placedTest("placementCommand() looks in the namespaces that are asked for", [{ nodes: ["od-1"] }, {
  namespace: "far",
  name: "db",
  nodes: ["od-1"],
}], async (scene) => {
  const names = async (...args: string[]): Promise<string> =>
    JSON.parse((await placementOf(scene, "-o", "json", ...args))[1]).workloads
      .map(({ name }: { name: string }) => name).join();
  assert.deepEqual(
    [await names(), await names("-A"), await names("-n", "far")],
    ["web", "db,web", "db"],
  );
  assert.match(
    (await placementOf(scene, "-A"))[1],
    /^NAMESPACE +WORKLOAD .*\nfar +deployment\/db /,
  );
  assert.equal((await placementOf(scene, "db", "-A"))[0], 0);
});

placedTest("placementCommand() leaves out columns without room", SHOP, async (scene) => {
  const head = async (columns: number): Promise<string> => {
    scene.terminal = { columns, rows: 40 };
    const [, out] = await scene.ran("placement");
    return out.split("\n")[0]?.replaceAll(/ {2,}/g, " ") ?? "";
  };
  assert.equal(await head(300), "WORKLOAD SPOT ON-DEMAND PENDING PHASE NEXT");
  assert.equal(await head(100), "WORKLOAD SPOT ON-DEMAND PENDING PHASE");
  // Rather cut than left out.
  assert.equal(await head(130), "WORKLOAD SPOT ON-DEMAND PENDING PHASE NEXT");
  const lines = scene.out.split("\n");
  assert.equal(Math.max(...lines.map((line) => line.length)), 130);
  assert.match(lines[1] ?? "", /^deployment\/bad .* none: annotation spotalis.*…$/);
});

placedTest("placementCommand() reports what is off, if it is seen", PLAIN, async (scene) => {
  const off = /\(placement\.enabled\)/;
  const out = async (): Promise<string> => (await placementOf(scene))[1];
  scene.controllerAlive = new ApiError(403, "Forbidden", "leases is forbidden");
  assert.doesNotMatch(await out(), /placement\.enabled|No controller/);
  scene.placement.variables = {};
  assert.match(await out(), off);
  scene.settings = "market:\n  enabled: true\nplacement:\n  enabled: true\n";
  assert.doesNotMatch(await out(), off);
  scene.settings = "placement:\n  enabled: false\n";
  assert.match(await out(), off);
  scene.placement.args = ["--market=on", "--placement=on"];
  assert.doesNotMatch(await out(), off);
  scene.placement.args = [];
  scene.placement.hidden.add("controllerCommand");
  assert.doesNotMatch(await out(), off);
});

placedTest("placementCommand() shows an unreadable status as not known", [], async (scene) => {
  assert.equal((await placementOf(scene))[0], 0);
  scene.placement.published.set("Deployment.web", "{").set("other", "{}");
  assert.match((await placementOf(scene))[1], /\ndeployment\/web +- +- +- +not known .*\n$/);
});

const HOME = "\x1b[H";
const SMALL = { columns: 100, rows: 6 };

/** Output of `placement -w` in 7.5 s, in which one replica moves after 3 s and back at the end. */
async function watched(
  scene: CoallocScene,
  { terminal, args = [], cluster = scene.cluster }: {
    readonly terminal?: { readonly columns: number; readonly rows: number };
    readonly cluster?: Cluster;
    readonly args?: readonly string[];
  } = {},
): Promise<string> {
  scene.out = "";
  scene.terminal = terminal;
  const ending = new AbortController();
  const move = (nodeName: string) => () =>
    void scene.api.store.tables.Pod.modify("shop/web-1", (one) => ({ ...one, nodeName }));
  const beganAt = scene.clock.monotonic();
  scene.clock.at(beganAt + 3000, move("od-1"));
  scene.clock.at(beganAt + 7500, () => ending.abort());
  const run = runCoalloc(["placement", ...args], {
    ...scene.world,
    outIsTerminal: terminal !== undefined,
    noColor: "1",
    connect: () => Promise.resolve(cluster),
    signal: ending.signal,
  });
  assert.equal(await settleVirtually(scene.clock, run), 0);
  assert.equal(scene.clock.monotonic() - beganAt, 7500);
  move("spot-1")();
  return scene.out;
}

placedTest("placementCommand() watches, and writes again only what changed", WEB, async (scene) => {
  const tables = (await watched(scene, { args: ["-w"] })).split("\n\n");
  assert.deepEqual(tables.map((table) => /web +(\S+)/.exec(table)?.[1]), ["2/1", "1/1"]);
  const json = await watched(scene, { args: ["--watch=1s", "-o", "json"] });
  const phases = json.trimEnd().split("\n").map((line) => JSON.parse(line).workloads[0].phase);
  assert.deepEqual(phases, ["Converging", "AsSpecified"]);
  const yaml = await watched(scene, { args: ["-w", "-o", "yaml"] });
  assert.equal(yaml.match(/^---$/gm)?.length, 2);
});

placedTest("placementCommand() draws over the last screen", WEB, async (scene) => {
  const screens = (await watched(scene, { terminal: SMALL, args: ["-w"] })).split(HOME);
  assert.deepEqual([screens.length, screens[0]], [3, "\x1b[2J"]);
  const [, detail = ""] = (await watched(scene, { terminal: SMALL, args: ["web", "-w"] }))
    .split(HOME);
  assert.ok(detail.endsWith(" more lines\x1b[K\n\x1b[J"), detail);
  assert.equal(detail.split("\n").length, 6);
});

placedTest("placementCommand() outlasts an outage, but no refusal", WEB, async (scene) => {
  const { placement } = scene.cluster;
  const away = () => Promise.reject(new ApiError(0, "Unreachable", "connection refused"));
  let reads = 0;
  const statuses = () => ++reads === 2 ? away() : placement.statuses();
  const cluster = { ...scene.cluster, placement: { ...placement, statuses } };
  const out = await watched(scene, { args: ["-w"], cluster });
  assert.match(out, /2\/1.*\n\nCannot .*: connection refused; .*\n\n.*1\/1/s);
  reads = 1;
  const world = { ...scene.world, connect: () => Promise.resolve(cluster) };
  assert.equal(await runCoalloc(["placement", "-w"], world), 1);
  assert.match(scene.err, /^Cannot .*: connection refused; /);
  scene.placement.hidden.add("statuses");
  assert.equal(await scene.run("placement", "-w"), 1);
});

pure("fittedScreen() keeps what fits, and counts lines that the terminal continues", () => {
  const size = { columns: 10, rows: 5 };
  assert.equal(fittedScreen("a\nb\nc\nd\n", size), "a\nb\nc\nd\n");
  const long = `${"a".repeat(25)}\n`;
  assert.equal(fittedScreen(`${long}b\nc\n`, size), `${long}… and 2 more lines\n`);
  // Colours have no width.
  const painted = `${paint("a".repeat(10), "green", { color: true })}\nb\n`;
  assert.equal(fittedScreen(painted, { columns: 10, rows: 3 }), painted);
});

pure("phaseTone() and nextText() set apart what is wrong, and a fallback without a pod", () => {
  assert.equal(phaseTone("Misconfigured"), "red");
  const next = { action: "fall back", notBefore: "2026-01-01T12:00:10.000Z" };
  const web = { namespace: "shop", kind: "Deployment", name: "web", phase: "Cooldown" } as const;
  const found = nextText({ ...web, next, revisions: [], pods: [] }, Date.UTC(2026, 0, 1, 12));
  assert.equal(found, "fall back at 12:00:10Z");
});

pure("splitBar() shows each kind, of thousands as well, within its width", () => {
  const bar = (actual: number, desired: number) => splitBar({ actual, desired, largest: 1000 });
  assert.deepEqual([bar(999, 1000), bar(0, 0)], [`${"█".repeat(30)}·`, ""]);
  assert.ok(bar(1000, 600).length <= 31);
});
