import assert from "node:assert/strict";
import { addMarketPod, type CoallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import type { PrometheusRange } from "../../../adapters/prometheus/range_queries.ts";
import { template } from "../../../tests/fixtures/cli/advised_shop.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/cli/node_views.ts";
import { shopTest } from "../../../tests/fixtures/cli/shop_scene.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { MONTH_HOURS, pricePerHour } from "../../../shared/rightsizing/prices.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { ReportView } from "./report_view.ts";

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
    limitsAboveOriginal: 0.25,
    limitsBelowOriginal: 0.1,
    podsInMarket: 2,
    podsChanged: 1,
    coresSaved: 0,
    memorySaved: 0,
    coresToSave: -0.958,
    memoryToSave: 0.9399,
  });
  assert.deepEqual(view.missing.map(({ key }) => key), [
    // No agent runs.
    "presentUsage",
    "throttledSeconds",
    "throttledSecondsBefore",
    "limitChanges",
    "scarceSeconds",
    "usageBeyondOriginal",
    "money",
  ]);
  assert.deepEqual([view.from, view.to], ["2025-12-25T00:00:00.000Z", "2026-01-01T00:00:00.000Z"]);
});

/** In force are 1000 m and 1 GiB in each of two pods, for 26 hours. */
function raiseManifest(scene: CoallocScene): void {
  const resources = { requests: { cpu: 1500, memory: 2 * 2 ** 30 }, limits: {} };
  scene.rightsizing.templates = [
    template("StatefulSet/db", 2, [{ name: "db", sidecar: false, ...resources }]),
  ];
}

shopTest("report counts what was applied in place in the period's hours", async (scene) => {
  raiseManifest(scene);
  const { figures, workloads } = await reported(scene, PRICES);
  assert.deepEqual(workloads, [{
    namespace: "shop",
    kind: "StatefulSet",
    name: "db",
    cores: 1,
    gib: 2,
    hours: 26,
    money: (0.1 + 0.02) * 26,
  }]);
  const money = figures.find(({ key }) => key === "moneySaved");
  assert.deepEqual([money?.value, money?.unit], [workloads[0]?.money, "money"]);
  const [day] = (await reported(scene, ` --since 24h${PRICES}`)).workloads;
  assert.equal(day?.hours, 24);
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

shopTest("report asks Prometheus for the period, and for as long a time before", async (scene) => {
  addPods(scene);
  const asked: PrometheusRange[] = [];
  scene.history = (range) => {
    asked.push(range);
    const { query, endMs } = range;
    if (query.startsWith("sum(increase(mbcas_node_scarce")) return { series: [] };
    const values = query.startsWith("mbcas_pod_usage_cores") ? [0.1, 0.5] : [endMs === NOW ? 7 : 9];
    const labels = { namespace: "shop", pod: "front" };
    const series = {
      labels,
      values: Float64Array.from(values),
      timesMs: Float64Array.from([0, 1]),
    };
    return { series: [series] };
  };
  const view = await reported(scene, " -A --since 1h --prometheus http://p:9090/");
  const { throttledSeconds, throttledSecondsBefore, limitChanges, usageBeyondOriginal } = valuesOf(
    view,
  );
  assert.deepEqual([throttledSeconds, throttledSecondsBefore, limitChanges], [7, 9, 7]);
  // 0.5 cores against an original limit of 0.2, in one of 61 minutes.
  assert.equal(usageBeyondOriginal, Number((0.3 / 61).toFixed(4)));
  assert(
    view.missing.some(({ key, why }) =>
      key === "scarceSeconds" && why.includes("mbcas_node_scarce_seconds_total[3600s]")
    ),
  );
  assert.deepEqual(new Set(asked.map(({ server }) => server)), new Set(["http://p:9090"]));
  const ofShop = await reported(scene, " --since 1h --prometheus http://p:9090");
  assert(!("limitChanges" in valuesOf(ofShop)));
  assert(asked.some(({ query }) => query === 'mbcas_pod_usage_cores{namespace="shop"}'));
});

shopTest("report gives the market's figures where recommendations can't be read", async (scene) => {
  scene.rightsizing.reports = new ApiError(403, "Forbidden", "forbidden");
  const view = await reported(scene, PRICES);
  assert(
    view.missing.some(({ key, why }) => key === "requestsSaved" && why.includes("forbidden")),
  );
  assert.equal(valuesOf(view)["podsInMarket"], 0);
});

shopTest("report refuses a price or an address that is none", async (scene) => {
  for (const flags of ["--core-hour free", "--gib-hour -1", "--prometheus p:9090", "--since 5m"]) {
    assert.equal((await scene.ran(`report ${flags}`))[0], 2, flags);
  }
});

shopTest("report writes a page in which names are escaped", async (scene) => {
  raiseManifest(scene);
  const [, out] = await scene.ran(`report -o html${PRICES.replace("EUR", "<b>")}`);
  assert(out.startsWith("<!doctype html>") && out.includes("3.12 &lt;b&gt;"), out);
});
