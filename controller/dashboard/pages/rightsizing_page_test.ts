import assert from "node:assert/strict";
import { NOW, sampleSite } from "../../../tests/fixtures/dashboard/sample_site.ts";
import { rightsizingPage, rightsizingView } from "./rightsizing_page.ts";

const OPTIONS = { visible: () => true, nowMs: NOW, choice: { page: 1 } };
const GIB = 2 ** 30;
const MEBI = 2 ** 20;

Deno.test("rightsizingView() counts what was applied, and apart what is to be applied, but nothing skipped", () => {
  const { state } = sampleSite({ pods: 1 });
  const view = rightsizingView(state, OPTIONS);
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

  const unpriced = rightsizingView({ ...state, prices: () => undefined }, OPTIONS);
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
  const { workloads } = rightsizingView({ ...state, reports: () => reports }, OPTIONS);
  assert.deepEqual(workloads.map(({ name }) => name), ["log", "cart", "web", "db"]);
});
