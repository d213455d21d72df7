import assert from "node:assert/strict";
import { nodeViewAt, NOW, sampleSite, TOKENS } from "../../tests/fixtures/dashboard/sample_site.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createAccess } from "./access.ts";
import { createCollector } from "./collector.ts";
import { createHistory, POINTS, STEP_MS } from "./history.ts";
import { clusterView } from "./views/cluster.ts";
import { nodeDetail } from "./views/node.ts";
import { podDetail, podsView } from "./views/pods.ts";
import { placementView } from "./views/placement.ts";
import { rightsizingView } from "./views/rightsizing.ts";

const LAST = Math.floor(NOW / STEP_MS);
const EVERYTHING = { visible: () => true, nowMs: NOW };
const SHOP = { visible: (namespace: string) => namespace === "shop", nowMs: NOW };
const { app, state, paths } = sampleSite({ pods: 100 });
const [, , , podPath = ""] = paths;

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

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

Deno.test("createHistory() takes less than 40 MB for 5,000 pods on 500 nodes, and no more for any", () => {
  const history = createHistory();
  const view = nodeViewAt(0, { step: LAST, pods: 50 });
  function takeNodes(nodes: number, podsEach: number): void {
    for (let node = 0; node < nodes; node++) {
      const pods = view.pods.slice(0, podsEach).map((pod, index) => ({
        ...pod,
        uid: `${node}/${index}`,
      }));
      history.take({ ...view, node: `node-${node}`, pods }, NOW);
    }
  }
  takeNodes(500, 10);
  assert.ok(history.bytes > 20e6 && history.bytes < 25e6, String(history.bytes));
  takeNodes(500, 50);
  assert.ok(history.bytes > 39e6 && history.bytes <= 40e6, String(history.bytes));
});

Deno.test("createCollector() reads all agents each 15 s, a few at a time, and names those that fail", async () => {
  const clock = createVirtualClock({ wallStart: NOW });
  const agents = Array.from({ length: 20 }, (_, node) => ({ node: `node-${node + 1}`, ip: "" }));
  let [open, most] = [0, 0];
  const collector = createCollector({
    clock,
    agents: () => agents,
    async readView({ node }) {
      most = Math.max(most, ++open);
      await clock.sleep(10);
      open--;
      if (node === "node-3") throw new Error("refused");
      return nodeViewAt(Number(node.slice(5)) - 1, { step: LAST, pods: 2000 });
    },
  });
  let rounds = 0;
  collector.onRound(() => rounds++);
  const stop = new AbortController();
  const running = collector.run(stop.signal);
  await clock.runUntil(31_000);
  agents.pop();
  await clock.runUntil(46_000);
  stop.abort();
  await running;
  assert.deepEqual([rounds, most, collector.views.size], [4, 8, 18]);
  assert.deepEqual([...collector.problems], [["node-3", "refused"]]);
});

Deno.test("views show what the user may list, and sums of the rest", () => {
  const cluster = clusterView(state, EVERYTHING);
  assert.deepEqual([cluster.nodes.length, cluster.totals.pods], [2, 100]);
  assert.deepEqual(cluster.modes, { uncongested: 1, congested: 1, overloaded: 0 });
  assert.deepEqual(cluster.blocked.map(({ reason, count }) => [reason, count]), [
    ["QuotaExceeded", 3],
  ]);
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

  const choice = { sort: "name", page: 1 } as const;
  assert.equal(podsView(state, { ...EVERYTHING, choice }).count, 100);
  const shop = podsView(state, { ...SHOP, choice: { ...choice, search: "web" } });
  assert.deepEqual([shop.count, shop.namespaces], [17, ["shop"]]);

  assert.equal(rightsizingView(state, SHOP).workloads.length, 3);
  assert.equal(rightsizingView(state, { visible: () => false }).workloads.length, 0);
  assert.deepEqual(placementView(state, SHOP).workloads.map(({ name }) => name), ["web", "db"]);
});

Deno.test("rightsizingView() prices what the recommendations save", () => {
  const { saving, changes } = rightsizingView(state, EVERYTHING);
  const cores = (changes.cpu.shrinks - changes.cpu.grows) / 1000;
  const gib = (changes.memory.shrinks - changes.memory.grows) / 2 ** 30;
  assert.deepEqual(saving.money, { perMonth: 730 * (cores * 0.04 + gib * 0.005), currency: "USD" });
  const unpriced = rightsizingView({ ...state, prices: () => undefined }, EVERYTHING);
  assert.equal(unpriced.saving.money, undefined);
});

Deno.test("podDetail() explains a pod as `kubectl coalloc explain`, with its last hour", () => {
  const [, , namespace = "", name = ""] = podPath.split("/");
  const detail = podDetail(state, { namespace, name, nowMs: NOW });
  assert.equal(detail?.verdict.title, "Blocked");
  assert.deepEqual(detail?.stages.map((stage) => stage.name), [
    ...["Readings", "Demand", "Bounds", "Clearing", "Pacing", "Desired", "Controller", "Kubelet"],
  ]);
  assert.ok(detail.changes.length > 5);
  assert.equal(podDetail(state, { namespace, name: "none", nowMs: NOW }), undefined);
});

Deno.test("dashboardRoutes() answers by what the token's user may list", async () => {
  const other = podPath.replace("/shop/", "/data/");
  for (
    const [path, token, status] of [
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
    ] as const
  ) {
    const response = await app.request(path, token === undefined ? {} : bearer(token));
    assert.equal(response.status, status, `${path} ${token}`);
    assert.equal(response.headers.get("cache-control"), "no-store", path);
    await response.body?.cancel();
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
  const form = (token: string) => ({
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ token }),
  });
  assert.equal((await app.request("/login", form("bad"))).status, 401);
  const response = await app.request("/login", form(` ${TOKENS.shop}\n`));
  assert.deepEqual([response.status, response.headers.get("location")], [303, "/"]);
  const cookie = response.headers.get("set-cookie") ?? "";
  assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict$/);
  const pods = await app.request("/pods", { headers: { cookie } });
  assert.match(await pods.text(), /Log out/);
  const foreign = { ...form(TOKENS.shop), headers: { origin: "http://other" } };
  assert.equal((await app.request("/login", foreign)).status, 403);
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

/** A server-sent event in its parts. */
function eventOf(text = ""): { readonly event: string; readonly data: string } {
  const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)\n/.exec(text) ?? [];
  return { event, data };
}

Deno.test("dashboardRoutes() streams the page's content after each round, until the token ends", async () => {
  const site = sampleSite({ pods: 1 });
  const response = await site.app.request("/live/pods", bearer(TOKENS.admin));
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  for (let round = 0; round < 2; round++) {
    site.round();
    const { event, data } = eventOf((await reader.read()).value);
    assert.equal(event, "page");
    const page = await (await site.app.request("/pods", bearer(TOKENS.admin))).text();
    assert.ok(page.includes(JSON.parse(data)));
  }
  await reader.cancel();
});

Deno.test("createAccess() asks again for a token and a right after half a minute, and not before", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  let [tokens, rights] = [0, 0];
  const access = createAccess({
    clock,
    reviews: {
      userOf: (token) => Promise.resolve(++tokens > 1 ? undefined : { username: token }),
      isAllowed: () => Promise.resolve(++rights > 0),
    },
  });
  for (const [atMs, known] of [[0, true], [29_000, true], [31_000, false]] as const) {
    await clock.runUntil(atMs);
    const viewer = await access.viewerOf("a");
    assert.equal(viewer !== undefined, known);
    assert.equal(await viewer?.maySee("shop") ?? true, true);
  }
  assert.deepEqual([tokens, rights], [2, 1]);
});
