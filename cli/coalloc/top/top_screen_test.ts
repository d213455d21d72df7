import assert from "node:assert/strict";
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
import type { NodeReadings } from "../node_readings.ts";
import { topScreen } from "./top_screen.ts";
import { type TopChoice, topView } from "./top_view.ts";

const NOW = Date.UTC(2026, 0, 1, 0, 0, 0, 250);
const ALL: TopChoice = { pods: [], sort: "throttled" };

const VIEW = sampleNodeView([
  samplePodView("idle", {
    container: sampleContainerView({
      usage: 30,
      demand: 40,
      limit: 100,
      enforced: 100,
      throttledMsPerSecond: 0,
      reason: "DemandFell",
    }),
  }),
  samplePodView("web", { container: sampleContainerView({ limit: 450 }) }),
]);

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
      containers: [{
        name: "app",
        containerID: "containerd://far",
        floor: 100,
        ceiling: 800,
        weight: 1,
      }],
    },
  },
};
WRITTEN.spec = { ...WRITTEN.spec, podUID: "far", ...sampleDesired("300m") };

function readings(change: Partial<NodeReadings> = {}): NodeReadings {
  return { views: [VIEW], allocations: [], problems: [], ...change };
}

function screen(input: NodeReadings, choice = ALL, look = {}): string {
  return topScreen(topView(input, { choice, nowMs: NOW }), look);
}

Deno.test({
  name: "topScreen() shows the most throttled first, and the node below",
  permissions: "none",
  fn() {
    assert.equal(
      screen(readings()),
      `\
NAMESPACE   POD    USAGE   DEMAND       LIMIT   DEMAND/LIMIT   THROTTLED   PRICE   REASON
shop        web     198m     480m   200m→450m   █████▒▒▒▒▒│▒    412 ms/s   0.267   Throttled
shop        idle     30m      40m        100m   ████▒······│      0 ms/s   0.267   DemandFell

node-1  ███████████████████░  3.42 of 3.60 cores committed · 0.20 unmanaged · 2 pods · congested · price 0.267 · 250ms ago
`,
    );
  },
});

Deno.test({
  name: "topScreen() shows why a node's limits are held",
  permissions: "none",
  fn() {
    const [view] = readings().views;
    assert.ok(view !== undefined);
    assert.match(
      screen(readings({ views: [{ ...view, held: "SchedExt" }] })),
      / · .*held: SchedExt · /,
    );
  },
});

Deno.test({
  name: "topScreen() shows allocations with their age where no agent answers",
  permissions: "none",
  fn() {
    const input = readings({
      views: [],
      allocations: [WRITTEN],
      problems: ["No agent runs"],
    });
    assert.equal(
      screen(input, ALL, { wide: true }),
      `\
NAMESPACE   POD   USAGE   DEMAND   LIMIT   THROTTLED   PRICE   REASON      NODE     ORIGINAL   FLOOR   CEILING   AGE
other       far       -     500m    300m           -    0.01   Throttled   node-2       200m    100m      800m   90s

No agent runs
`,
    );
    assert.match(screen({ views: [], allocations: [], problems: [] }), /^No pods .*\n$/);
  },
});

Deno.test({
  name: "topView() filters and sorts, and reports which pods are missing",
  permissions: "none",
  fn() {
    const input = readings({ allocations: [WRITTEN] });
    const names = (choice: Partial<TopChoice>) =>
      topView(input, { choice: { ...ALL, ...choice }, nowMs: NOW }).pods.map(({ pod }) => pod);
    assert.deepEqual(names({}), ["web", "idle", "far"]);
    assert.deepEqual(names({ sort: "demand" }), ["far", "web", "idle"]);
    assert.deepEqual(names({ sort: "limit" }), ["web", "far", "idle"]);
    assert.deepEqual(names({ sort: "name" }), ["far", "idle", "web"]);
    assert.deepEqual(names({ namespace: "other" }), ["far"]);
    assert.deepEqual(names({ node: "node-1" }), ["web", "idle"]);
    assert.deepEqual(names({ pods: ["idle"] }), ["idle"]);
    const { notes } = topView(input, { choice: { ...ALL, pods: ["gone"] }, nowMs: NOW });
    assert.match(notes.join(), /^Pod gone .* explain gone -n NAMESPACE /);
    const here = { ...ALL, pods: ["gone"], namespace: "shop", node: "node-1" };
    const view = topView(input, { choice: here, nowMs: NOW });
    const [note = ""] = view.notes;
    assert.equal(view.notes.length, 1);
    assert.match(note, /^Pod gone .* shop .* node-1; .* explain gone -n shop /);
    // Others are in the market here, so it must not be said that none is.
    assert.equal(topScreen({ ...view, nodes: [] }, { named: true }), `${note}\n`);
  },
});

Deno.test({
  name: "topScreen() fits the screen: fewer columns, and pods counted that have no line",
  permissions: "none",
  fn() {
    const many = readings({
      views: [sampleNodeView(Array.from({ length: 50 }, (_, index) => samplePodView(`p${index}`)))],
    });
    const text = screen(many, ALL, { columns: 70, rows: 12 });
    const lines = text.trimEnd().split("\n");
    assert(lines.length <= 11, text);
    assert.match(text, /… and 44 more/);
    assert(!text.includes("DEMAND/LIMIT"));
    for (const line of lines.slice(0, 8)) assert(line.length <= 70, line);
  },
});

Deno.test({
  name: "topScreen() paints what suffers, only with colour",
  permissions: "none",
  fn() {
    assert(!screen(readings()).includes("\x1b"));
    assert(screen(readings(), ALL, { color: true }).includes("\x1b[31m412 ms/s\x1b[0m"));
  },
});
