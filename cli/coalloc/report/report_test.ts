import assert from "node:assert/strict";
import type { PrometheusProblem } from "../../../adapters/prometheus/prometheus_request.ts";
import type { PrometheusRange } from "../../../adapters/prometheus/range_queries.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { MONTH_HOURS, pricePerHour } from "../../../shared/rightsizing/prices.ts";
import { shopTest, template } from "../../../tests/fixtures/cli/advised_shop.ts";
import { addMarketPod, type CoallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/cli/node_views.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { type HistoryRequest, readHistory } from "./read_history.ts";
import { reportMarkdown } from "./report_pages.ts";
import type { HistoryFigures, ReportView, WorkloadSaving } from "./report_view.ts";

const PRICES = " --core-hour 0.1 --gib-hour 0.01 --currency EUR";
const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

async function reported(scene: CoallocScene, flags: string): Promise<ReportView> {
  const [code, out, err] = await scene.ran(`report -o json${flags}`);
  assert.deepEqual([code, err], [0, ""]);
  return JSON.parse(out);
}

function valuesOf({ figures }: ReportView): Readonly<Record<string, number>> {
  return Object.fromEntries(figures.map(({ key, value }) => [key, Number(value.toFixed(4))]));
}

/** One pod above and one below its original limit; the second was changed eight days ago. */
function addPods(scene: CoallocScene): void {
  const applied = (cpuLimit: string, days: number) => ({
    containers: [{ name: "app", cpuLimit }],
    lastAppliedTime: new Date(NOW - days * DAY).toISOString(),
  });
  addMarketPod(scene, "front", { limit: 450, own: 200, status: applied("450m", 1) });
  addMarketPod(scene, "back", { limit: 100, own: 200, status: applied("100m", 8) });
}

pure("pricePerHour() counts cores and GiB", () => {
  const prices = { coreHour: 0.1, gibHour: 0.01, currency: "" };
  assert.equal(pricePerHour({ cpu: 2000, memory: 0 }, prices), 0.2);
  assert.equal(pricePerHour({ cpu: 0, memory: 2 ** 31 }, prices), 0.02);
  assert.equal(MONTH_HOURS * 12, 365 * 24);
});

shopTest("report has what the cluster keeps, and says what is missing", async (scene) => {
  addPods(scene);
  const view = await reported(scene, "");
  assert.deepEqual(valuesOf(view), {
    ...{ limitsAboveOriginal: 0.25, limitsBelowOriginal: 0.1, podsInMarket: 2, podsChanged: 1 },
    ...{ coresRequested: 2, coresSaved: 0, coresToSave: 0.042 },
    ...{ memoryRequested: 2, memorySaved: 0, memoryToSave: -0.0601 },
  });
  assert.deepEqual(view.missing.map(({ key }) => key), [
    // No agent runs.
    "presentUsage",
    ...["podsMeasured", "usageBeyondOriginal", "throttledSeconds", "limitChanges"],
    ...["scarceSeconds", "containersThrottledSeconds", "containersCPU", "money"],
  ]);
  assert.deepEqual([view.from, view.to], ["2025-12-25T00:00:00.000Z", "2026-01-01T00:00:00.000Z"]);
});

shopTest("report counts no limit that can't be read", async (scene) => {
  const containers = [{ name: "app", cpuLimit: "450m" }];
  const originalLimits = [{ name: "app", cpu: "99999999999999999999" }];
  addMarketPod(scene, "front", { limit: 450, own: 200, status: { containers, originalLimits } });
  addMarketPod(scene, "back", {
    ...{ limit: 450, own: 200 },
    status: { containers: [{ name: "app", cpuLimit: "99999999999999999999" }] },
  });
  const { limitsAboveOriginal, limitsBelowOriginal } = valuesOf(await reported(scene, ""));
  assert.deepEqual([limitsAboveOriginal, limitsBelowOriginal], [0, 0]);
});

/** In force are 1000 m and 1 GiB in each of two pods, for 26 hours. */
function raiseManifest(scene: CoallocScene): void {
  const resources = { requests: { cpu: 1500, memory: 2 * 2 ** 30 }, limits: {} };
  scene.rightsizing.templates = [
    template("StatefulSet/db", 2, [{ name: "db", sidecar: false, ...resources }]),
  ];
}

shopTest("report counts what was applied in place, in hours of the period", async (scene) => {
  raiseManifest(scene);
  const { figures, workloads } = await reported(scene, PRICES);
  assert.deepEqual(workloads, [{
    ...{ namespace: "shop", kind: "StatefulSet", name: "db", cores: 1, gib: 2 },
    ...{ before: { cores: 3, gib: 4 }, hours: 26, money: (0.1 + 0.02) * 26 },
  }]);
  const money = figures.find(({ key }) => key === "moneySaved");
  assert.deepEqual([money?.value, money?.unit], [workloads[0]?.money, "money"]);
  const [day] = (await reported(scene, ` --since 24h${PRICES}`)).workloads;
  assert.equal(day?.hours, 24);
});

/** Sets the requests of the second of those pods. */
function setRequests(scene: CoallocScene, requests: { cpu: number; memory: number }): void {
  scene.api.store.tables.Pod.modify("shop/db-1", (pod) => (
    { ...pod, containers: pod.containers.map((one) => ({ ...one, requests })) }
  ));
}

shopTest("report counts what pods have, not what they are to have", async (scene) => {
  raiseManifest(scene);
  // One of the two could not be resized.
  setRequests(scene, { cpu: 1500, memory: 2 * 2 ** 30 });
  const view = await reported(scene, PRICES);
  const { coresSaved, coresRequested, memorySaved } = valuesOf(view);
  assert.deepEqual([coresSaved, coresRequested, memorySaved], [0.5, 2.5, 1]);
  assert.equal(view.figures.find(({ key }) => key === "coresRequested")?.before, 3);
});

shopTest("report claims no savings where it can't read pods", async (scene) => {
  raiseManifest(scene);
  const forbidden = new ApiError(403, "Forbidden", "pods is forbidden");
  scene.cluster.reader.pods = () => Promise.reject(forbidden);
  const view = await reported(scene, PRICES);
  assert.deepEqual(
    Object.keys(valuesOf(view)).filter((key) => /Saved|Requested|ToSave/.test(key)),
    ["coresToSave", "memoryToSave", "moneyToSave"],
  );
  assert(
    view.missing.some(({ key, why }) => key === "requestsSaved" && why.includes("is forbidden")),
  );
});

shopTest("report has what agents see now, of the namespace", async (scene) => {
  scene.agents.push("node-1");
  const far = samplePodView("far", { namespace: "other" });
  const container = sampleContainerView({ usage: 450, originalLimit: 200 });
  scene.views.set("node-1", sampleNodeView([samplePodView("front", { container }), far]));
  const { usageBeyondOriginalNow, throttledNow } = valuesOf(await reported(scene, ""));
  assert.deepEqual([usageBeyondOriginalNow, throttledNow], [0.25, 0.412]);
  assert.equal(valuesOf(await reported(scene, " -A"))["throttledNow"], 0.824);
});

/** Answers of a Prometheus by the query and its time; one without a value has no series. */
function answers(
  scene: CoallocScene,
  value: (query: string, endMs: number) => number | undefined,
): readonly PrometheusRange[] {
  const asked: PrometheusRange[] = [];
  scene.history = (range) => {
    asked.push(range);
    const one = value(range.query, range.endMs);
    const values = Float64Array.from(one === undefined ? [] : [one]);
    const series = { labels: {}, values, timesMs: Float64Array.from([0]) };
    return { series: one === undefined ? [] : [series] };
  };
  return asked;
}

const HOUR = " -A --since 1h --prometheus http://p:9090/";

shopTest("report asks Prometheus for the period, and for the one before", async (scene) => {
  addPods(scene);
  const asked = answers(scene, (query, endMs) => {
    if (query.includes("increase(mbcas_node_scarce")) return undefined;
    if (query.startsWith("count_over_time")) return 240;
    if (query.startsWith("count(group by (cluster)")) return 1;
    return query.startsWith("max_over_time") ? 1 : endMs >= NOW ? 7 : 9;
  });
  const figuresBefore = async (flags: string): Promise<readonly unknown[]> => {
    const { figures, comparedTo } = await reported(scene, HOUR + flags);
    const compared = figures.filter(({ source, before }) =>
      before !== undefined && source[0] !== "R"
    );
    return [comparedTo, ...compared.map(({ key, value, before }) => [key, value, before])];
  };
  const all = [
    ...["podsMeasured", "usageBeyondOriginal", "throttledSeconds", "limitChanges"],
    ...["containersThrottledSeconds", "containersCPU"],
  ].map((key) => [key, 7, 9]);
  assert.deepEqual(await figuresBefore(""), ["2025-12-31T23:00:00.000Z", ...all]);
  assert.deepEqual(new Set(asked.map(({ endMs }) => endMs)), new Set([NOW, NOW - 3_600_000]));
  const installed = Date.UTC(2025, 10, 1);
  assert.deepEqual(await figuresBefore(" --compare-to 2025-11-01"), [
    "2025-11-01T00:00:00.000Z",
    ...all,
  ]);
  assert(asked.some(({ endMs }) => endMs === installed));
  assert.deepEqual(new Set(asked.map(({ server }) => server)), new Set(["http://p:9090"]));
  const [, page] = await scene.ran(`report${HOUR}`);
  assert.match(page, /other days/);
  const view = await reported(scene, HOUR);
  const scarce = view.missing.find(({ key }) => key === "scarceSeconds");
  assert.match(scarce?.why ?? "", /mbcas_node_scarce_seconds_total/);
  assert.equal((await scene.ran(`report${HOUR} --compare-to 2026-01-01`))[0], 1);
});

shopTest("report asks for one cluster and one namespace where that is asked for", async (scene) => {
  addPods(scene);
  const asked = answers(scene, () => 1);
  const flags = ' --since 1h --prometheus http://p:9090 --prometheus-matchers cluster="a"';
  const view = await reported(scene, flags);
  assert(!("limitChanges" in valuesOf(view)));
  assert(asked.every(({ query }) => query.includes('cluster="a"')), asked.at(-1)?.query);
  const throttled = asked.find(({ query }) => query.includes("mbcas_pod_throttled"))?.query;
  assert.equal(
    throttled,
    'sum(increase(mbcas_pod_throttled_seconds_total{namespace="shop",cluster="a"}[3600s]))',
  );
  assert(
    asked.some(({ query }) => query.includes('{namespace=~"shop",container!="",cluster="a"}')),
  );
});

shopTest("report shows on a terminal how many figures Prometheus has given", async (scene) => {
  answers(scene, () => 1);
  for (const terminal of [true, false]) {
    scene.err = "";
    const world = { ...scene.world, errIsTerminal: terminal };
    assert.equal(await runCoalloc(`report${HOUR}`.split(" "), world), 0);
    assert.equal(/of 7 figures/.test(scene.err), terminal);
    assert.equal(scene.err.endsWith("\r\x1b[K"), terminal);
  }
});

shopTest("report gives a Prometheus's refusal once for all that it would have", async (scene) => {
  scene.history = () => ({ problem: "unreachable", message: "HTTP 502\n<img src=x>|" });
  const [, out] = await scene.ran(`report${HOUR} -o markdown`);
  const lines = out.split("\n").filter((line) => line.includes("HTTP 502"));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /^- .*: HTTP 502 &lt;img src=x>\\\|$/);
  const [, page] = await scene.ran(`report${HOUR} -o html`);
  assert(page.includes("&lt;img src=x&gt;") && !page.includes("<img"));
  // Whether there are several clusters is not known then.
  const asked = answers(scene, () => 1);
  const { history } = scene;
  scene.history = (range) =>
    range.query.includes("leader")
      ? { problem: "unreachable", message: "no answer" }
      : history(range);
  assert(!("throttledSeconds" in valuesOf(await reported(scene, HOUR))));
  assert.deepEqual(asked, []);
});

shopTest("report gives the market's figures where recommendations can't be read", async (scene) => {
  scene.rightsizing.reports = new ApiError(403, "Forbidden", "forbidden");
  const view = await reported(scene, PRICES);
  assert(
    view.missing.some(({ key, why }) => key === "requestsSaved" && why.includes("forbidden")),
  );
  assert.equal(valuesOf(view)["podsInMarket"], 0);
});

shopTest("report adds up the workloads that it does not list, costs among them", async (scene) => {
  const saving = (index: number): WorkloadSaving => ({
    ...{ namespace: "shop", kind: "Deployment", name: `web-${index}`, hours: 1 },
    ...{ cores: 30 - index, gib: 0, before: { cores: 40, gib: 0 }, money: index < 20 ? 1 : -2 },
  });
  const workloads = Array.from({ length: 23 }, (_, index) => saving(index));
  const view = { ...await reported(scene, PRICES), workloads };
  const rows = reportMarkdown(view).split("\n").filter((line) => line.includes("EUR"));
  assert.equal(rows.at(-1), "| 3 others | 27.00 | 0.00 | -6.00 EUR |");
  const page = reportMarkdown({ ...view, workloads: workloads.slice(0, 20) });
  assert(!page.includes("others"));
});

shopTest("report writes a difference that rounds to nothing without a sign", async (scene) => {
  raiseManifest(scene);
  setRequests(scene, { cpu: 2004, memory: 2 ** 30 });
  const [, out] = await scene.ran("report --core-hour 1 --gib-hour 0");
  assert(out.includes(" 0.00 cores") && !out.includes("-0.00"), out);
});

const HOUR_MS = 3_600_000;
const REQUEST: HistoryRequest = {
  server: "http://p:9090",
  matchers: [],
  ...{ nowMs: 9 * HOUR_MS, sinceMs: HOUR_MS, beforeMs: 8 * HOUR_MS },
  ...{ namespace: { all: true }, namespaces: ["shop"], pods: 10 },
};

type Reply = (query: string, now: boolean) => number | PrometheusProblem | undefined;

/**
 * Figures and queries with these replies of a Prometheus; its other replies are of one sane cluster.
 */
async function read(
  reply: Reply,
  request: Partial<HistoryRequest> = {},
): Promise<HistoryFigures & { readonly queries: readonly string[]; readonly most: number }> {
  const queries: string[] = [];
  let [running, most] = [0, 0];
  const history = await readHistory({ ...REQUEST, ...request }, {
    async ask({ query, endMs }: PrometheusRange) {
      queries.push(query);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      const usual = query.startsWith("count_over_time") ? 240 : 1;
      const value = reply(query, endMs === REQUEST.nowMs) ?? usual;
      if (typeof value !== "number") return value;
      const values = Float64Array.of(value);
      return { series: [{ labels: {}, values, timesMs: Float64Array.of(0) }] };
    },
    signal: new AbortController().signal,
  });
  return { ...history, queries, most };
}

function whysOf({ missing }: HistoryFigures, key: string): readonly string[] {
  return missing.filter((one) => one.key === key).map(({ why }) => why);
}

pure("readHistory() compares no period with one that has more data, or less", async () => {
  const ofSamples = (before: number): Promise<HistoryFigures> =>
    read((query, now) => query.startsWith("count_over_time") && !now ? before : undefined);
  const compared = async (before: number): Promise<number> =>
    (await ofSamples(before)).figures.filter(({ before }) => before !== undefined).length;
  assert.deepEqual([await compared(240), await compared(480), await compared(120)], [7, 0, 0]);
  assert.match(whysOf(await ofSamples(480), "before")[0] ?? "", /^\D* [12] h\b/);
});

pure("readHistory() gives the reason where the period before can't be read", async () => {
  const slow: PrometheusProblem = { problem: "unreachable", message: "no answer" };
  const coverage = await read((query, now) =>
    query.startsWith("count_over_time") && !now ? slow : undefined
  );
  assert.deepEqual(whysOf(coverage, "before"), ["no answer", "no answer"]);
  const large: PrometheusProblem = { problem: "refused", message: "too much", tooMuch: true };
  const one = await read((query, now) =>
    query.includes("mbcas_pod_throttled") && !now ? large : undefined
  );
  assert.match(whysOf(one, "before")[0] ?? "", /--since/);
});

pure("readHistory() adds up neither several clusters nor what earlier leaders said", async () => {
  const kubelets = await read((query) =>
    /^count\(group.*container_cpu/.test(query) ? 3 : undefined
  );
  assert.match(whysOf(kubelets, "containersCPU")[0] ?? "", /3 clusters.*--prometheus-matchers/);
  assert(kubelets.figures.some(({ key }) => key === "throttledSeconds"));
  const leaders = await read((query, now) => query.includes("leader") && !now ? 2 : undefined);
  assert.deepEqual([leaders.figures.length, leaders.queries.length], [0, 2]);
});

pure("readHistory() asks a few queries at a time, and for fewer moments of many pods", async () => {
  const { most, queries } = await read(() => undefined);
  assert.equal(most, 2);
  assert(queries.every((query) => !query.includes("process_start")), queries.join("\n"));
  const stepOf = async (pods: number): Promise<string | undefined> =>
    (await read(() => undefined, { pods, sinceMs: 168 * HOUR_MS })).queries.map((query) =>
      /:(\d+s)\]\) \/ scalar/.exec(query)?.[1]
    ).find((step) => step !== undefined);
  const steps = [await stepOf(100), await stepOf(1000), await stepOf(50_000)];
  assert.deepEqual(steps, ["605s", "1210s", "6048s"]);
});

pure("readHistory() asks nothing of containers where no pod is in the market", async () => {
  const empty = await read(() => undefined, { namespaces: [] });
  assert.equal(whysOf(empty, "containersCPU").length, 1);
  assert(empty.queries.every((query) => !query.includes("container_")));
});

Deno.test("the report reads metrics that the programs have", async () => {
  const read = await Deno.readTextFile(new URL("./read_history.ts", import.meta.url));
  const listed = await Deno.readTextFile(new URL("../../../docs/metrics.md", import.meta.url));
  const names = new Set(read.match(/\bmbcas_\w+/g));
  assert.ok(names.size > 3);
  for (const name of names) assert.ok(listed.includes(name), name);
});
