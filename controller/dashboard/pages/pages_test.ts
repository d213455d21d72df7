import assert from "node:assert/strict";
import { NOW, sampleSite, TOKENS } from "../../../tests/fixtures/dashboard/sample_site.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { clusterView } from "./cluster_page.ts";
import { nodeDetail } from "./node_page.ts";
import { placementView } from "./placement_page.ts";
import { rightsizingPage, rightsizingView } from "./rightsizing_page.ts";
import { filtered, pageOf } from "./tables.ts";

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
  const rows = [["shop", "web"], ["data", "web-2"], ["shop", "db"]].map((
    [namespace = "", name],
  ) => ({
    ...{ namespace, name },
  }));
  const names = (choice: { readonly namespace?: string; readonly search?: string }) => {
    const nameOf = ({ name = "" }: { readonly name: string | undefined }) => name;
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
});

Deno.test("rightsizingView() has failed workloads first", () => {
  const { state } = sampleSite({ pods: 1 });
  const reports = [...state.reports() ?? []].map((report) => ({
    ...report,
    workloads: report.workloads.map((one) =>
      one.name === "log" ? { ...one, status: "Error" as const } : one
    ),
  }));
  const { workloads } = rightsizingView({ ...state, reports: () => reports }, FIRST_PAGE);
  assert.deepEqual(workloads.map(({ name }) => name), ["log", "cart", "web", "db"]);
});
