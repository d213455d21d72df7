import assert from "node:assert/strict";
import { nodeViewAt, NOW, sampleSite, TOKENS } from "../../tests/fixtures/dashboard/sample_site.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { clusterView } from "./pages/cluster_page.ts";
import { nodeDetail } from "./pages/node_page.ts";
import { placementView } from "./pages/placement_page.ts";
import { rightsizingPage, rightsizingView } from "./pages/rightsizing_page.ts";
import { filtered, pageOf } from "./pages/tables.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createCollector } from "./collector.ts";
import { createHistory, POINTS, STEP_MS } from "./history.ts";

const OPTIONS = { visible: () => true, nowMs: NOW };
const FIRST_PAGE = { ...OPTIONS, choice: { page: 1 } };

pure("pageOf() has a hundred rows a page, and the nearest page to one that there is not", () => {
  const rows = Array.from({ length: 201 }, (_, index) => index);
  const cases = [
    [1, 1, 0, 100],
    [3, 3, 200, 1],
    [9, 3, 200, 1],
    [-1, 1, 0, 100],
    [Infinity, 3, 200, 1],
  ] as const;
  for (const [page, shown, first, count] of cases) {
    const found = pageOf(rows, { page });
    assert.deepEqual(found.paging, { count: 201, page: shown, pages: 3 });
    assert.deepEqual([found.rows[0], found.rows.length], [first, count]);
  }
  assert.deepEqual(pageOf([], { page: 1 }), { rows: [], paging: { count: 0, page: 1, pages: 1 } });
});

pure("filtered() chooses by namespace and part of the name, and offers all namespaces", () => {
  const rows = [
    { namespace: "shop", name: "web" },
    { namespace: "data", name: "web-2" },
    { namespace: "shop", name: "db" },
  ];
  const names = (choice: { readonly namespace?: string; readonly search?: string }) => {
    const nameOf = ({ name }: { readonly name: string }): string => name;
    const { rows: found, filter } = filtered(rows, { choice: { page: 1, ...choice }, nameOf });
    assert.deepEqual(filter, { ...choice, namespaces: ["data", "shop"] });
    return found.map(({ name }) => name);
  };
  assert.deepEqual(names({}), ["web", "web-2", "db"]);
  assert.deepEqual(names({ namespace: "shop", search: "w" }), ["web"]);
});

Deno.test("views have the rows that matter on the first page", () => {
  const { state } = sampleSite({ pods: 200 });
  const { nodes } = clusterView(state, FIRST_PAGE);
  assert.deepEqual(nodes.slice(0, 2).map(({ mode }) => mode), ["congested", "congested"]);
  const [first, second] = nodes;
  assert.ok(first && second && first.throttledMsPerSecond > second.throttledMsPerSecond);
  const placed = placementView(state, FIRST_PAGE).workloads;
  assert.deepEqual(placed.map(({ name }) => name), ["web", "search", "db"]);

  const view = state.collector.views.get("node-1");
  assert.ok(view);
  const pods = [0, 1, 2].flatMap((copy) =>
    view.pods.map((pod) => ({ ...pod, pod: `${pod.pod}-${copy}` }))
  );
  const views = new Map([["node-1", { ...view, pods }]]);
  const full = { ...state, collector: { ...state.collector, views } };
  const throttled = [1, 2].flatMap((page) => {
    const detail = nodeDetail(full, { ...OPTIONS, node: "node-1", choice: { page } });
    assert.deepEqual(detail?.paging, { count: 150, page, pages: 2 });
    assert.equal(detail?.shares.length, 150);
    return detail?.pods.map(({ throttledMsPerSecond = 0 }) => throttledMsPerSecond) ?? [];
  });
  assert.deepEqual(throttled, throttled.toSorted((a, b) => b - a));
  assert.ok((throttled[0] ?? 0) > (throttled.at(-1) ?? 0));
});

Deno.test("pages link to the ones beside them, and keep what was chosen", async () => {
  const { app } = sampleSite({ pods: 300 });
  const request = (path: string) =>
    app.request(path, { headers: { authorization: `Bearer ${TOKENS.admin}` } });
  const page = await (await request("/pods?search=e&sort=limit&page=2")).text();
  assert.match(page, /href="\?search=e&amp;sort=limit&amp;page=1#pods">Previous/);
  assert.match(page, /Page 2 of 3<[^]*href="\?search=e&amp;sort=limit&amp;page=3#pods">Next/);
  assert.match(page, /<option value="limit" selected>/);
  const last = await (await request("/pods?page=99")).text();
  assert.match(last, /Page 3 of 3/);
  assert.doesNotMatch(last, />Next</);
  const filtered = await (await request("/rightsizing?namespace=shop&search=cart")).text();
  assert.match(filtered, /1 workload, 1 Applied;[^]*<option value="shop" selected>/);
  const empty = await (await request("/pods?namespace=none")).text();
  assert.match(empty, /<option value="none" selected>none<[^]*<p class="nothing">/);
});

const GIB = 2 ** 30;
const MEBI = 2 ** 20;

Deno.test("rightsizingView() counts what was applied, and apart what is to be applied, but nothing skipped", () => {
  const { state } = sampleSite({ pods: 1 });
  const view = rightsizingView(state, FIRST_PAGE);
  const { statuses, saved, ifApplied, workloads } = view;
  assert.deepEqual(statuses, { Applied: 1, Recommended: 1, Skipped: 2 });
  // `cart` asks for 4 × (400 m, 128 MiB) in its manifest, and has 4 × (250 m, 96 MiB).
  const applied = { cpu: 600, memory: 128 * MEBI };
  const perMonth = 730 * (0.6 * 0.04 + 128 * MEBI / GIB * 0.005);
  assert.deepEqual(saved, { ...applied, money: { perMonth, currency: "USD" } });
  // `web` shrinks by 2 × 164 m and grows by 136 m, its sidecar grows by 3 × 50 m.
  assert.equal(ifApplied.cpu, 2 * 164 - 136 - 150);
  assert.deepEqual(workloads.map(({ name, ifApplied: open }) => [name, open?.cpu]), [
    ["cart", 0],
    ["web", 42],
    ["log", undefined],
    ["db", undefined],
  ]);
  const page = String(rightsizingPage(view).content);
  assert.match(
    page,
    /Money saved<\/dt><dd class="value">17\.98 USD<[^]*; 1\.01 USD more if applied/,
  );

  const unpriced = rightsizingView({ ...state, prices: () => undefined }, FIRST_PAGE);
  assert.deepEqual([unpriced.saved, unpriced.ifApplied.money], [applied, undefined]);
  assert.doesNotMatch(String(rightsizingPage(unpriced).content), /Money/);
  // Failed workloads come first.
  const reports = [...state.reports() ?? []].map((report) => ({
    ...report,
    workloads: report.workloads.map((one) =>
      one.name === "log" ? { ...one, status: "Error" as const } : one
    ),
  }));
  const failing = rightsizingView({ ...state, reports: () => reports }, FIRST_PAGE).workloads;
  assert.deepEqual(failing.map(({ name }) => name), ["log", "cart", "web", "db"]);
});

const LAST = Math.floor(NOW / STEP_MS);

Deno.test("createHistory() keeps the last hour of each node and pod, and null where no sample is", () => {
  const history = createHistory();
  for (const step of [LAST - POINTS, LAST - 3, LAST]) {
    history.take(nodeViewAt(0, { step, pods: 1 }), step * STEP_MS);
  }
  const now = nodeViewAt(0, { step: LAST, pods: 1 });
  const limits = history.pod("uid-0", NOW)?.series.limit ?? [];
  assert.equal(limits.length, POINTS);
  assert.deepEqual(limits.flatMap((value, at) => value === null ? [] : [at]), [
    POINTS - 4,
    POINTS - 1,
  ]);
  assert.equal(limits.at(-1), now.pods[0]?.limit);
  assert.equal(history.cluster(NOW).series.committed.at(-1), now.committed);
  const later = NOW + POINTS * STEP_MS;
  history.forget(later);
  assert.deepEqual([history.bytes, history.node("node-1", later)], [0, undefined]);
});

Deno.test("createHistory() knows which limits moved, when and why", () => {
  const history = createHistory();
  const view = nodeViewAt(0, { step: LAST, pods: 1 });
  const [pod] = view.pods;
  assert.ok(pod);
  for (const [back, limit] of [[3, 100], [2, 100], [1, 150], [0, 120]] as const) {
    const moved = { ...pod, limit, reason: back === 1 ? "Throttled" : "DemandFell" } as const;
    history.take({ ...view, pods: [moved] }, (LAST - back) * STEP_MS);
  }
  assert.deepEqual(history.changes(pod.uid, NOW), [
    { atMs: LAST * STEP_MS, from: 150, to: 120, reason: "DemandFell" },
    { atMs: (LAST - 1) * STEP_MS, from: 100, to: 150, reason: "Throttled" },
  ]);
  assert.deepEqual(history.cluster(NOW).series.changes.slice(-4), [0, 0, 1, 1]);
});

Deno.test("createHistory() keeps CPU pressure in percent, of several nodes the highest", () => {
  const history = createHistory();
  const shares = [0.25, 0.5, undefined];
  for (const [node, share] of shares.entries()) {
    const { cpuPressure: _known, ...view } = nodeViewAt(node, { step: LAST, pods: 150 });
    history.take(share === undefined ? view : { ...view, cpuPressure: { share, seconds: 9 } }, NOW);
  }
  const newest = (hour = history.cluster(NOW)) => hour.series.pressure.at(-1);
  assert.deepEqual([1, 2, 3].map((node) => newest(history.node(`node-${node}`, NOW))), [
    ...[25, 50, null],
  ]);
  assert.equal(newest(), 50);
  const [pod] = nodeViewAt(0, { step: LAST, pods: 1 }).pods;
  const pressure = history.pod("uid-0", NOW)?.series.pressure.at(-1) ?? 0;
  assert.equal(pressure.toFixed(3), (100 * (pod?.cpuPressure?.share ?? 0)).toFixed(3));
});

Deno.test("createHistory() sums a node that is read later as it was before", () => {
  const history = createHistory();
  const views = [0, 1].map((node) => nodeViewAt(node, { step: LAST, pods: 100 }));
  for (const [back, read] of [[2, views], [1, views.slice(1)], [0, views]] as const) {
    for (const view of read) history.take(view, (LAST - back) * STEP_MS);
  }
  const whole = views.reduce((sum, { capacity }) => sum + capacity, 0);
  const { capacity, changes } = history.cluster(NOW).series;
  assert.deepEqual(capacity.slice(-3), [whole, whole, whole]);
  assert.deepEqual(changes.slice(-3), [0, 0, 0]);
  assert.deepEqual(history.node("node-1", NOW)?.series.capacity.at(-2), null);
});

Deno.test("createHistory() takes less than 40 MB for 5,000 pods on 500 nodes, and no more for any", () => {
  const history = createHistory();
  const view = nodeViewAt(0, { step: LAST, pods: 50 });
  for (const [podsEach, least, most] of [[10, 25e6, 30e6], [50, 39e6, 40e6]] as const) {
    for (let node = 0; node < 500; node++) {
      const pods = view.pods.slice(0, podsEach)
        .map((pod, index) => ({ ...pod, uid: `${node}/${index}` }));
      history.take({ ...view, node: `node-${node}`, pods }, NOW);
    }
    assert.ok(history.bytes > least && history.bytes <= most, String(history.bytes));
  }
});

Deno.test("createCollector() reads all agents each 15 s, a few at a time, also while hundreds hang", async () => {
  const clock = createVirtualClock({ wallStart: NOW - NOW % STEP_MS });
  const agents = Array.from({ length: 500 }, (_, node) => ({ node: `node-${node + 1}`, ip: "" }));
  let [hung, open, most, rounds] = [0, 0, 0, 0];
  const readings = new Map<string, number>();
  const collector = createCollector({
    clock,
    agents: () => agents,
    async readView({ node }) {
      most = Math.max(most, ++open);
      const number = Number(node.slice(5));
      await clock.sleep(number <= hung ? 3000 : 10);
      open--;
      if (number <= hung) throw new Error("hangs");
      readings.set(node, (readings.get(node) ?? 0) + 1);
      // The last one answers for another node.
      return nodeViewAt(Math.min(number, 499) - 1, { step: LAST, pods: 1 });
    },
  });
  const unsubscribe = collector.onRound(() => rounds++);
  const stop = new AbortController();
  const running = collector.run(stop.signal);
  await clock.runUntil(14_000);
  assert.deepEqual([...collector.problems.keys()], ["node-500"]);
  assert.deepEqual([rounds, most, collector.views.size], [1, 16, 499]);
  unsubscribe();
  hung = 400;
  // The first round that finds them hanging has no knowledge of them yet.
  await clock.runUntil(106_000);
  readings.clear();
  await clock.runUntil(166_000);
  assert.equal(readings.get("node-450"), 4);
  assert.deepEqual([collector.views.size, collector.problems.size], [99, 401]);
  assert.equal(collector.problems.get("node-1"), "hangs");
  // Nodes that are gone are forgotten.
  agents.splice(0, 498);
  await clock.runUntil(182_000);
  assert.deepEqual([rounds, collector.views.size, collector.problems.size], [1, 1, 1]);
  stop.abort();
  await clock.runUntil(200_000);
  await running;
});
