import assert from "node:assert/strict";
import { NOW, sampleSite, TOKENS } from "../../tests/fixtures/dashboard/sample_site.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { silentLog } from "../../shared/log.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import type { ControllerSettings } from "../settings.ts";
import { createAccess } from "./access.ts";
import { connectDashboard, type DashboardOptions } from "./connect_dashboard.ts";
import { POINTS } from "./history.ts";
import { lastHour } from "./pages/charts.ts";
import { clusterView } from "./pages/cluster_page.ts";
import { nodeDetail, nodePage } from "./pages/node_page.ts";
import { placementView } from "./pages/placement_page.ts";
import { podDetail, podPage } from "./pages/pod_page.ts";
import { podsView } from "./pages/pods_page.ts";
import { rightsizingView } from "./pages/rightsizing_page.ts";
import { dashboardRoutes } from "./routes.ts";

const FIRST = { nowMs: NOW, choice: { page: 1 } };
const EVERYTHING = { ...FIRST, visible: () => true };
const SHOP = { ...FIRST, visible: (namespace: string) => namespace === "shop" };
const { app, state, paths } = sampleSite({ pods: 100 });
const [, , , podPath = ""] = paths;

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const login = (token: string) => ({
  method: "POST",
  headers: { "sec-fetch-site": "same-origin" },
  body: new URLSearchParams({ token }),
});

Deno.test("views show what the user may list, and sums of the rest", () => {
  const { nodes, totals, modes, blocked } = clusterView(state, EVERYTHING);
  assert.deepEqual([nodes.length, totals.pods], [2, 100]);
  assert.deepEqual(modes, { uncongested: 1, congested: 1, overloaded: 0 });
  assert.deepEqual(blocked.map(({ reason, count }) => [reason, count]), [["QuotaExceeded", 3]]);
  assert.deepEqual(clusterView(state, SHOP).blocked.map(({ count }) => count), [1]);

  const whole = nodeDetail(state, { ...EVERYTHING, node: "node-1" });
  const part = nodeDetail(state, { ...SHOP, node: "node-1" });
  assert.ok(whole && part);
  const sum = (shares: readonly { readonly share: number }[]): number =>
    shares.reduce((total, { share }) => total + share, 0);
  assert.equal(sum(whole.pods), sum(part.pods) + part.others.share);
  assert.deepEqual([whole.pods.length, part.pods.length, part.others.count], [50, 17, 33]);
  assert.ok(whole.pods.every(({ pays, share, price }) => pays === (price ?? 0) * share / 1000));
  assert.equal(nodeDetail(state, { ...EVERYTHING, node: "node-9" }), undefined);

  const sort = "name";
  assert.equal(podsView(state, { ...EVERYTHING, sort }).paging.count, 100);
  const shop = podsView(state, { ...SHOP, sort, choice: { page: 1, search: "web" } });
  assert.deepEqual([shop.paging.count, shop.filter.namespaces], [17, ["shop"]]);

  const problems = new Map([["node-1", "refused"], ["node-9", "refused"]]);
  const failing = { ...state, collector: { ...state.collector, problems } };
  const named = podsView(failing, { ...SHOP, sort }).notes.map((note) => /node-\d/.exec(note)?.[0]);
  assert.deepEqual(named, ["node-1"]);
  assert.equal(clusterView(failing, EVERYTHING).notes.length, 2);

  assert.equal(rightsizingView(state, SHOP).workloads.length, 4);
  assert.equal(rightsizingView(state, { ...FIRST, visible: () => false }).workloads.length, 0);
  assert.deepEqual(placementView(state, SHOP).workloads.map(({ name }) => name), ["web", "db"]);
});

Deno.test("podDetail() explains a pod as `kubectl coalloc explain`, with its last hour", () => {
  const [, , namespace = "", name = ""] = podPath.split("/");
  const detail = podDetail(state, { namespace, name, ...FIRST });
  assert.equal(detail?.verdict.title, "Blocked");
  assert.deepEqual(detail?.stages.map((stage) => stage.name), [
    ...["Readings", "Demand", "Bounds", "Clearing", "Pacing", "Desired", "Controller", "Kubelet"],
  ]);
  assert.ok(detail.changes.length > 5);
  assert.equal(podDetail(state, { namespace, name: "none", ...FIRST }), undefined);
});

Deno.test("dashboardRoutes() answers by what the token's user may list", async () => {
  const other = podPath.replace("/shop/", "/data/");
  const rows = [
    ["/", undefined, 401],
    ["/api/pods", undefined, 401],
    ["/", "bad", 401],
    ["/live/", "bad", 401],
    ["/", "broken", 502],
    ["/", TOKENS.admin, 200],
    ["/nodes/node-1", TOKENS.admin, 200],
    ["/nodes/none", TOKENS.admin, 404],
    ["/none", TOKENS.admin, 404],
    [podPath, TOKENS.admin, 200],
    [`${podPath}-none`, TOKENS.admin, 404],
    ["/", TOKENS.shop, 403],
    ["/api/cluster", TOKENS.shop, 403],
    ["/nodes/node-1", TOKENS.shop, 403],
    ["/pods", TOKENS.shop, 200],
    [podPath, TOKENS.shop, 200],
    [other, TOKENS.shop, 403],
    [`/api${other}`, TOKENS.shop, 403],
    [`/live${other}`, TOKENS.shop, 200],
    ["/rightsizing", TOKENS.shop, 200],
    ["/placement", TOKENS.shop, 200],
  ] as const;
  for (const [path, token, status] of rows) {
    const response = await app.request(path, token === undefined ? {} : bearer(token));
    assert.equal(response.status, status, `${path} ${token}`);
    assert.equal(response.headers.get("cache-control"), "no-store", path);
    await response.body?.cancel();
  }
});

Deno.test("dashboardRoutes() asks for a token of the account in the installation's namespace", async () => {
  for (const [path, request] of [["/", {}], ["/login", {}], ["/login", login("bad")]] as const) {
    const text = await (await app.request(path, request)).text();
    assert.match(text, /mbcas-dashboard -n cpu-market</);
  }
});

Deno.test("dashboardRoutes() shows no other namespace to a user of one", async () => {
  for (const path of paths.filter((one) => one !== "/" && !one.startsWith("/nodes"))) {
    for (const prefix of ["", "/api"]) {
      const text = await (await app.request(prefix + path, bearer(TOKENS.shop))).text();
      assert.ok(text.length > 100 && !/data\/|batch\/|"(data|batch)"/.test(text), prefix + path);
    }
  }
});

Deno.test("dashboardRoutes() keeps the token in a cookie that neither scripts nor other sites can use", async () => {
  assert.equal((await app.request("/login", login("bad"))).status, 401);
  const response = await app.request("/login", login(` ${TOKENS.shop}\n`));
  assert.deepEqual([response.status, response.headers.get("location")], [303, "/"]);
  const cookie = response.headers.get("set-cookie") ?? "";
  assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict$/);
  const pods = await app.request("/pods", { headers: { cookie } });
  assert.match(await pods.text(), /Log out/);
  const foreign = { ...login(TOKENS.shop), headers: { origin: "http://other" } };
  assert.equal((await app.request("/login", foreign)).status, 403);
});

Deno.test("dashboardRoutes() bounds what a client can make it keep", async () => {
  const site = sampleSite({ pods: 1 });
  const tried = (length: number) => site.app.request("/login", login("x".repeat(length)));
  assert.equal((await tried(1000)).status, 401);
  assert.match(await (await tried(5000)).text(), /5000 characters/);
  assert.equal((await tried(100_000)).status, 413);
  const foreign = { method: "POST", headers: { origin: "http://other" } };
  assert.equal((await site.app.request("/logout", foreign)).status, 403);
  assert.equal((await site.app.request("/assets/constructor")).status, 404);

  const open = (token: string, method = "GET") =>
    site.app.request("/live/pods", { ...bearer(token), method });
  assert.equal((await open(TOKENS.shop, "HEAD")).status, 405);
  const opened = await Promise.all(Array.from({ length: 20 }, () => open(TOKENS.shop)));
  assert.ok(opened.every(({ status }) => status === 200));
  assert.equal((await open(TOKENS.shop)).status, 503);
  const other = await open(TOKENS.admin);
  assert.equal(other.status, 200);
  // A client that does not read makes place for others.
  for (let round = 0; round < 4; round++) {
    site.round();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const again = await open(TOKENS.shop);
  assert.equal(again.status, 200);
  site.end();
  await Promise.all([...opened, other, again].map(({ body }) => body?.cancel()));
});

Deno.test("dashboardRoutes() logs its own defects, and does not blame the API server", async () => {
  const logged: string[] = [];
  const { access } = sampleSite({ pods: 1 });
  const broken = dashboardRoutes({
    ...{ namespace: "", access },
    state: {
      ...state,
      placements: () => {
        throw new TypeError("defect");
      },
    },
    collector: { onRound: () => () => {} },
    clock: systemClock,
    log: { ...silentLog, warn: (_, fields) => void logged.push(String(fields?.error)) },
    signal: new AbortController().signal,
  });
  const response = await broken.request("/placement", bearer(TOKENS.admin));
  assert.deepEqual([response.status, logged], [500, ["TypeError: defect"]]);
});

Deno.test("connectDashboard() ends with the controller, whatever its clients and the API server do", async () => {
  const asked = Promise.withResolvers<void>();
  const review = Promise.withResolvers<unknown>();
  const serving = Promise.withResolvers<unknown>();
  const serve = connectDashboard(
    {
      request() {
        asked.resolve();
        return review.promise;
      },
    } as unknown as KubeConnection,
    {
      clock: systemClock,
      log: { ...silentLog, info: (_, fields) => serving.resolve(fields?.address) },
      settings: () =>
        ({ namespace: "mbcas", dashboardListen: "127.0.0.1:0" }) as ControllerSettings,
      statuses: { list: () => Promise.reject(new SyntaxError("no gzip")) },
    } satisfies DashboardOptions,
  );
  const stop = new AbortController();
  const running = serve({ caches: { ...state.caches } }, stop.signal);
  // Its connection is closed in the end.
  const waiting = assert.rejects(fetch(`http://${await serving.promise}/`, bearer("any")));
  await asked.promise;
  stop.abort();
  const begin = performance.now();
  await running;
  assert.ok(performance.now() - begin < 3000);
  await waiting;
  review.resolve({});
});

Deno.test("dashboardRoutes() lets pages load and run nothing but their own files", async () => {
  const response = await app.request("/pods", bearer(TOKENS.admin));
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  const page = await response.text();
  assert.ok(!/ style=|<script>|https?:/.test(page));
  const search = "/pods?search=%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
  const hostile = await (await app.request(search, bearer(TOKENS.admin))).text();
  assert.ok(!hostile.includes("<script>alert"));
});

Deno.test("dashboardRoutes() streams the page's content after each round, until the token ends", async () => {
  const site = sampleSite({ pods: 1 });
  const response = await site.app.request("/live/pods", bearer(TOKENS.admin));
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  for (let round = 0; round < 2; round++) {
    site.round();
    const { value = "" } = await reader.read();
    const [, data = ""] = /^event: page\ndata: (.*)\n/.exec(value) ?? assert.fail(value);
    const page = await (await site.app.request("/pods", bearer(TOKENS.admin))).text();
    assert.ok(page.includes(JSON.parse(data)));
  }
  await reader.cancel();
});

Deno.test("createAccess() keeps tokens and rights for half a minute, and refusals for five", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const asked = { token: 0, mine: 0, other: 0 };
  const access = createAccess({
    clock,
    reviews: {
      userOf: (token) => Promise.resolve(++asked.token > 4 ? undefined : { username: token }),
      isAllowed(_, { namespace }) {
        if (namespace === "mine") asked.mine++;
        if (namespace === "other") asked.other++;
        return Promise.resolve(namespace === "mine");
      },
    },
  });
  const rows = [
    [0, 1, 1, 1],
    [29_000, 1, 1, 1],
    [31_000, 2, 2, 1],
    [299_000, 3, 3, 1],
    [330_000, 4, 4, 2],
  ] as const;
  for (const [atMs, token, mine, other] of rows) {
    await clock.runUntil(atMs);
    const viewer = await access.viewerOf("a");
    assert.deepEqual([await viewer?.maySee("mine"), await viewer?.maySee("other")], [true, false]);
    assert.deepEqual(asked, { token, mine, other }, String(atMs));
  }
  await clock.runUntil(361_000);
  assert.equal(await access.viewerOf("a"), undefined);
});

Deno.test("createAccess() reviews few unknown tokens at a time", async () => {
  const [review, busy] = [Promise.withResolvers<undefined>(), Promise.withResolvers<void>()];
  let reviews = 0;
  const access = createAccess({
    clock: createVirtualClock({ wallStart: 0 }),
    reviews: {
      userOf() {
        if (++reviews === 32) busy.resolve();
        return review.promise;
      },
      isAllowed: () => Promise.resolve(true),
    },
  });
  const waiting = Array.from({ length: 32 }, (_, index) => access.viewerOf(String(index)));
  await busy.promise;
  await assert.rejects(access.viewerOf("one more"), { status: 503 });
  review.resolve(undefined);
  await Promise.all(waiting);
  assert.equal(await access.viewerOf("one more"), undefined);
});

Deno.test("lastHour() names the present value: infinite, of a late agent, or not known", () => {
  const rows = [
    [[1, 2, 3], "3"],
    [[1, 2, null], "2"],
    [[1, 2, Infinity], "∞"],
    [[Infinity, Infinity, Infinity], "∞"],
    [[1, null, null, null], "-"],
  ] as const;
  for (const [values, now] of rows) {
    const lines = [{ label: "Price", tone: "price", values }];
    const markup = String(lastHour(0, [{ title: "Price", unit: "each", lines }]));
    assert.equal(/Price: (\S+) each now/.exec(markup)?.[1], now, String(values));
  }
});

Deno.test("pages show CPU pressure where the kernel measures it, and a dash elsewhere", () => {
  const [namespace = "", name = ""] = podPath.split("/").slice(2);
  const node = nodeDetail(state, { ...EVERYTHING, node: "node-1" });
  const pod = podDetail(state, { namespace, name, ...FIRST });
  assert.ok(node?.hour && pod?.hour);
  assert.match(String(nodePage(node).content), /"value">42 %[^]*\(PSI\)<\/b>[^]*<td[^>]*>63 %/);
  const podText = String(podPage(pod).content);
  for (const expected of [/\(PSI\)<\/b>/, /63 %, node 42 %/]) assert.match(podText, expected);

  const none = { pressure: Array<null>(POINTS).fill(null) };
  const { cpuPressure: _node, ...bare } = node.node;
  const without = String(
    nodePage({
      ...node,
      node: bare,
      hour: { ...node.hour, series: { ...node.hour.series, ...none } },
      pods: node.pods.map(({ cpuPressure: _pod, ...one }) => one),
    }).content,
  );
  assert.match(without, />CPU pressure<\/dt><dd class="value">-</);
  assert.doesNotMatch(without, /PSI\)<\/b>|\d %</);
  const hour = { ...pod.hour, series: { ...pod.hour.series, ...none } };
  assert.doesNotMatch(String(podPage({ ...pod, hour }).content), /PSI/);
});

Deno.test("nodePage() says why limits are held, and since when CPU is scarce", () => {
  const detail = nodeDetail(state, { ...EVERYTHING, node: "node-1" }) ?? assert.fail("no node");
  const pageOf = (change: Partial<typeof detail.node>) =>
    String(nodePage({ ...detail, node: { ...detail.node, ...change } }).content);
  assert.match(pageOf({ held: "SchedExt" }), /held \(SchedExt\): a sched_ext scheduler/);
  assert.match(pageOf({ state: "scarce", stateSeconds: 340 }), /scarce for 5m/);
});
