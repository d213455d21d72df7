import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/cli/node_views.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { type NodeReadings, type TopChoice, topView } from "../../../shared/view/top_view.ts";
import { demandBar, topScreen } from "./top_screen.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import { addMarketPod, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { runCoalloc } from "../run_coalloc.ts";

const NOW = Date.UTC(2026, 0, 1, 0, 0, 0, 250);
const ALL: TopChoice = { pods: [], sort: "throttled" };

const VIEW = sampleNodeView([
  samplePodView("idle", {
    container: sampleContainerView({
      ...{ usage: 30, demand: 40, limit: 100, enforced: 100 },
      ...{ throttledMsPerSecond: 0, reason: "DemandFell" },
    }),
  }),
  samplePodView("web", { container: sampleContainerView({ limit: 450 }) }),
]);

const BOUNDS = {
  ...{ name: "app", containerID: "containerd://far", floor: 100, ceiling: 800, weight: 1 },
};

/** An allocation that no agent speaks of, applied 90 s ago. */
const WRITTEN = {
  ...sampleAllocation(samplePod("far", { namespace: "other", nodeName: "node-2" })),
  status: {
    originalLimits: [{ name: "app", cpu: "200m" }],
    appliedCPULimit: "300m",
    lastAppliedTime: "2025-12-31T23:58:30Z",
    bounds: {
      revision: 3,
      reason: "original limit × 4",
      containers: [BOUNDS],
    },
  },
};
WRITTEN.spec = { ...WRITTEN.spec, podUID: "far", ...sampleDesired("300m") };

function readings(change: Partial<NodeReadings> = {}): NodeReadings {
  return { views: [VIEW], allocations: [], problems: [], ...change };
}

function screen(input: NodeReadings, choice = ALL, style = {}): string {
  return topScreen(topView(input, { choice, nowMs: NOW }), style);
}

pure("topScreen() shows the most throttled first, and the node below", () => {
  assert.equal(
    screen(readings()),
    `\
NAMESPACE   POD    USAGE   DEMAND       LIMIT   DEMAND/LIMIT   THROTTLED   PRICE   REASON
shop        web     198m     480m   200m→450m   █████▒▒▒▒▒│▒    412 ms/s     267   Throttled
shop        idle     30m      40m        100m   ████▒······│      0 ms/s     267   DemandFell

node-1  ███████████████████░  3.42 of 3.60 cores committed · 0.20 unmanaged · 2 pods · congested · CPU ample · price 267 · 250ms ago
`,
  );
});

pure("topScreen() shows why a node's limits are held", () => {
  const held = readings({ views: [{ ...VIEW, held: "SchedExt" }] });
  assert.match(screen(held), / · .*held: SchedExt · /);
});

pure("topScreen() shows allocations with their age where no agent answers", () => {
  const input = readings({ views: [], allocations: [WRITTEN], problems: ["No agent runs"] });
  assert.equal(
    screen(input, ALL, { wide: true }),
    `\
NAMESPACE   POD   USAGE   DEMAND   LIMIT   THROTTLED   PRICE   REASON      NODE     ORIGINAL   FLOOR   CEILING   AGE
other       far       -     500m    300m           -    0.01   Throttled   node-2       200m    100m      800m   90s

No agent runs
`,
  );
});

pure("topScreen() draws no bar for an allocation beside a view, and dims its reason", () => {
  const both = readings({ allocations: [WRITTEN] });
  const text = screen(both);
  assert.match(text, /^shop .*[█▒│]/m);
  assert.doesNotMatch(text, /^other .*[█▒│]/m);
  const painted = screen(both, ALL, { color: true });
  assert.equal(painted.split("\x1b[2mThrottled\x1b[22m").length, 2);
});

pure("topScreen() shows that a limit is on its way from a difference of 10 m on", () => {
  const [{ limit: _limit, enforced: _enforced, ...pod } = assert.fail("no pod")] =
    topView(readings(), { choice: ALL, nowMs: NOW }).pods;
  const rows = [
    [{ limit: 210, enforced: 200 }, "200m→210m"],
    [{ limit: 190, enforced: 200 }, "200m→190m"],
    [{ limit: 209, enforced: 200 }, "209m"],
    [{ limit: 191, enforced: 200 }, "191m"],
    [{ limit: 200 }, "200m"],
    [{ enforced: 200 }, "-"],
  ] as const;
  for (const [limits, expected] of rows) {
    const shown = topScreen({ pods: [{ ...pod, ...limits }], nodes: [], notes: [] });
    assert.equal(shown.split("\n")[1]?.split(/ {3,}/)[4], expected);
  }
});

pure("topView() filters and sorts, and reports which pods are missing", () => {
  const input = readings({ allocations: [WRITTEN] });
  const rows: readonly (readonly [names: string, choice: Partial<TopChoice>])[] = [
    ["web,idle,far", {}],
    ["far,web,idle", { sort: "demand" }],
    ["web,far,idle", { sort: "limit" }],
    ["far,idle,web", { sort: "name" }],
    ["far", { namespace: "other" }],
    ["web,idle", { node: "node-1" }],
    ["idle", { pods: ["idle"] }],
  ];
  for (const [names, choice] of rows) {
    const { pods } = topView(input, { choice: { ...ALL, ...choice }, nowMs: NOW });
    assert.equal(pods.map(({ pod }) => pod).join(), names);
  }
  const here = { ...ALL, pods: ["gone"], namespace: "shop", node: "node-1" };
  const view = topView(input, { choice: here, nowMs: NOW });
  const [note = ""] = view.notes;
  assert.equal(view.notes.length, 1);
  // Others are in the market here, so it must not be said that none is.
  assert.equal(topScreen({ ...view, nodes: [] }, { named: true }), `${note}\n`);
});

pure("topScreen() fits the screen: fewer columns, and pods counted that have no line", () => {
  const many = readings({
    views: [sampleNodeView(Array.from({ length: 50 }, (_, index) => samplePodView(`p${index}`)))],
  });
  const text = screen(many, ALL, { columns: 70, rows: 12 });
  const lines = text.trimEnd().split("\n");
  assert(lines.length <= 11, text);
  assert.match(text, /… and 44 more/);
  assert(!text.includes("DEMAND/LIMIT"));
  for (const line of lines.slice(0, 8)) assert(line.length <= 70, line);
});

pure("topScreen() paints what suffers, only with colour", () => {
  assert(!screen(readings()).includes("\x1b"));
  assert(screen(readings(), ALL, { color: true }).includes("\x1b[31m412 ms/s\x1b[39m"));
});

pure("demandBar() shows usage, demand beyond it, idle room and the limit", () => {
  assert.equal(demandBar({ usage: 200, demand: 400, limit: 200 }), "█████│▒▒▒▒▒▒");
  assert.equal(demandBar({ usage: 300, demand: 330, limit: 600 }), "██████▒····│");
  assert.equal(demandBar({ usage: 0, demand: 0, limit: 100 }), "···········│");
  assert.equal(demandBar({ usage: 0, demand: 0, limit: 0 }), "");
  assert.equal(demandBar({ usage: 1e6, demand: 1e6, limit: 0.001 }), "│███████████");
});

const CHANGED = { limit: 450, own: 200 };

sceneTest("topCommand() reads agents, and falls back to allocations", async (scene) => {
  const { metadata: { uid } } = addMarketPod(scene, "web", CHANGED);
  scene.agents.push("node-1", "node-2");
  scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
  assert.match((await scene.ran("top"))[1], /^web +198m/m);
  scene.views.clear();
  const { pods } = JSON.parse((await scene.ran("top -A -o json"))[1]);
  assert.deepEqual([pods.length, pods[0].source, pods[0].originalLimit], [1, "allocation", 200]);
});

sceneTest("topCommand() ends with 1 when a named pod is not in the market", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  scene.agents.push("node-1");
  scene.views.set("node-1", sampleNodeView([]));
  assert.equal(await scene.run("top", "web"), 0);
  const [code, out] = await scene.ran("top nosuchpod");
  assert.equal(code, 1);
  assert.doesNotMatch(out, /^No pods /);
  assert.equal(await scene.run("top", "web", "nosuchpod"), 1);
  assert.match(scene.out, /^web /m);
});

sceneTest("topCommand() cuts only what overwrites a screen to its height", async (scene) => {
  for (let index = 0; index < 30; index++) addMarketPod(scene, `web-${index}`, CHANGED);
  const rows = [["top", true, false], ["top -w", true, true], ["top -w", false, false]] as const;
  for (const [line, isTerminal, isCut] of rows) {
    scene.terminal = isTerminal ? { columns: 100, rows: 20 } : undefined;
    scene.out = "";
    const ending = new AbortController();
    scene.clock.at(scene.clock.monotonic() + 1000, () => ending.abort());
    const world = { ...scene.world, signal: ending.signal };
    assert.equal(await settleVirtually(scene.clock, runCoalloc(line.split(" "), world)), 0);
    assert.equal(/^… and \d+ more/m.test(scene.out), isCut, `${line} ${isTerminal}`);
  }
});
